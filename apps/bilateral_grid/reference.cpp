#include "bilateral_grid/reference.h"

#include <array>

namespace tessera::apps {

namespace {

// Sums of brightness and of weight; z is the brightness. The margin spares the blurs a border.
class Grid {
public:
    struct Cell {
        float value = 0, weight = 0;
    };

    Grid(int width, int height, int depth)
        : columns(width + 2 * margin), rows(height + 2 * margin), layers(depth + 2 * margin),
          cells(size_t(columns) * size_t(rows) * size_t(layers)) {}

    Cell &at(int x, int y, int z) { return cells[index(x, y, z)]; }
    // Nothing is outside.
    Cell get(int x, int y, int z) const {
        bool inside = x >= -margin && x < columns - margin && y >= -margin && y < rows - margin &&
                      z >= -margin && z < layers - margin;
        return inside ? cells[index(x, y, z)] : Cell();
    }

    // Convolve with 1 4 6 4 1 along one direction.
    Grid blurred(int dx, int dy, int dz) const {
        constexpr std::array<float, 5> taps = {1, 4, 6, 4, 1};
        Grid result = *this;
        for (int z = -margin; z < layers - margin; z++) {
            for (int y = -margin; y < rows - margin; y++) {
                for (int x = -margin; x < columns - margin; x++) {
                    Cell sum;
                    for (int i = 0; i < 5; i++) {
                        Cell near = get(x + (i - 2) * dx, y + (i - 2) * dy, z + (i - 2) * dz);
                        sum.value += taps[size_t(i)] * near.value;
                        sum.weight += taps[size_t(i)] * near.weight;
                    }
                    result.at(x, y, z) = sum;
                }
            }
        }
        return result;
    }

private:
    static constexpr int margin = 4;

    size_t index(int x, int y, int z) const {
        return (size_t(z + margin) * size_t(rows) + size_t(y + margin)) * size_t(columns) +
               size_t(x + margin);
    }

    int columns, rows, layers;
    std::vector<Cell> cells;
};

float mix(float a, float b, float part) { return a + (b - a) * part; }

float clamp_to_one(float value) { return std::clamp(value, 0.0f, 1.0f); }

// The mean brightness in the grid at a place between cells.
float slice(const Grid &grid, int x, int y, int z, float fx, float fy, float fz) {
    auto between = [&](float Grid::Cell::*part) {
        auto along_x = [&](int j, int k) {
            return mix(grid.get(x, y + j, z + k).*part, grid.get(x + 1, y + j, z + k).*part, fx);
        };
        return mix(mix(along_x(0, 0), along_x(1, 0), fy), mix(along_x(0, 1), along_x(1, 1), fy),
                   fz);
    };
    return between(&Grid::Cell::value) / between(&Grid::Cell::weight);
}

}  // namespace

Image<float> bilateral_grid_reference(const Image<float> &input,
                                      const BilateralGridSettings &settings) {
    const int cell = settings.cell;
    const float per_range = 1 / settings.range;
    // The filled cells, and those around them that the blurs of filled cells outside reach.
    const int columns = input.width() / cell + 2, rows = input.height() / cell + 2;
    const int reach = 2;
    Grid grid(columns + 2 * reach, rows + 2 * reach, int(per_range + 0.5f) + 2);
    for_each_pixel(columns + 2 * reach, rows + 2 * reach, [&](int column, int row) {
        for_each_pixel(cell, cell, [&](int i, int j) {
            float value = clamp_to_one(input.clamped((column - reach) * cell + i - cell / 2,
                                                     (row - reach) * cell + j - cell / 2));
            Grid::Cell &target = grid.at(column, row, int(value * per_range + 0.5f));
            target.value += value;
            target.weight += 1;
        });
    });
    grid = grid.blurred(0, 0, 1).blurred(1, 0, 0).blurred(0, 1, 0);

    Image<float> result(input.width(), input.height());
    for_each_pixel(input.width(), input.height(), [&](int x, int y) {
        float z = clamp_to_one(input(x, y)) * per_range;
        result(x, y) =
            slice(grid, x / cell + reach, y / cell + reach, int(z), float(x % cell) / float(cell),
                  float(y % cell) / float(cell), z - float(int(z)));
    });
    return result;
}

}  // namespace tessera::apps
