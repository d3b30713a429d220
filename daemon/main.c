/* evenkeel: the daemon, the commands of operators, and those of training and replay. */
#include "daemon/base/program.h"

#include <stddef.h>

#define OTHER_PROGRAM(name, summary) {#name, summary, NULL},

static const struct ek_command COMMANDS[] = {
    {"run", "watch a topic and keep its rankings on an even keel", ek_cmd_run},
    {"demo", "the whole story in a minute, on an embedded broker", ek_cmd_demo},
    {"profile", "training data to a profile", ek_cmd_profile},
    {"train", "training data to a routable model", ek_cmd_train},
    {"eval", "ranking quality of a model, with faults if wanted", ek_cmd_eval},
    {"export", "a model for other runtimes", ek_cmd_export},
    {"replay", "recorded messages through the same guard, offline", ek_cmd_replay},
    {"capture", "a topic to a file", ek_cmd_capture},
    {"inspect", "what is in a profile, model or capture", ek_cmd_inspect},
    {"status", "how a running instance is doing", ek_cmd_status},
    {"impact", "how far each route moves ranks, or would", ek_cmd_impact},
    {"history", "what was decided, by whom and why", ek_cmd_history},
    {"reload", "let a running instance read its rules, profile and model again", ek_cmd_reload},
    {"pause", "let a running instance forward everything as it comes", ek_cmd_pause},
    {"resume", "end a pause", ek_cmd_resume},
    {"accept", "say that what a feature is like now is normal", ek_cmd_accept},
    {"revert", "take an accept back", ek_cmd_revert},
    {"pin", "settle what is done about a feature", ek_cmd_pin},
    {"unpin", "let findings decide again", ek_cmd_unpin},
    {"check", "is this manifest, rules, profile, model or configuration valid", ek_cmd_check},
    EK_TOOLS_COMMANDS(OTHER_PROGRAM)};

int main(int argc, char **argv)
{
    static const struct ek_program EVENKEEL = {
        "evenkeel", "evenkeel keeps rankings on an even keel when the scale of a feature shifts.",
        COMMANDS, sizeof COMMANDS / sizeof *COMMANDS};
    return ek_program_run(&EVENKEEL, argc, argv);
}
