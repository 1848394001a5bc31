#pragma once

namespace tessera::autoscheduler {

// The options of `generator --tune` and of `tessera-tune generators`, behind these words.
constexpr const char *tune_options =
    R"( [-g name]... [-o folder] [--trials n] [--seconds n] [--log file]
                 [--parallelism n] [--seed n] [--no-measure] [--no-reports] [--export folder]
                 [--linker cc] [--target t] [name=value ...]

Finds schedules for pipelines of generators, as autoscheduler=tessera does for one.
  -g name        a generator, or name:weight, how often it runs beside the others; may be given
                 several times, and is all that there are without it
  -o folder      where name.schedule.h and name.html go; the current folder without it
  --trials n     schedules that are measured, of all pipelines together; 200 of each without it
  --seconds n    after which no more are begun
  --log file     measurements, as JSON lines: what it has is not measured again, so that whatever
                 ends the search, the next one goes on there; tuning.jsonl without it
  --parallelism n, --seed n, --target t, name=value
                 cores; of the random choices; of the machine (target=t is the same), and
                 parameters of the generators. For a target with a GPU, such as host-cuda, rules
                 make the schedules: nothing is measured, and the report lists the kernels
  --no-measure   the best of --log; without one, the cost model alone chooses, in seconds
  --no-reports   writes no pages of HTML
  --export folder
                 measures nothing, but writes --trials candidates of each generator into
                 folder/name, for tessera-measure to measure on a machine without a compiler: the
                 --log that it writes is one for this program. --parallelism is that of the machine
  --linker cc    the C compiler that makes shared libraries of them
It prints for each pipeline the time by rules and the best time, "of limit", which is the part of the
best that the machine would take at the least, as estimated, and how many schedules were measured.
Set TESSERA_TUNING_LOG to the log, and programs and generators with autoscheduler.trials=0 have the
best of it without a search.
)";

}  // namespace tessera::autoscheduler
