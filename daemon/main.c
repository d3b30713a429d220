/* Program evenkeel: the daemon, and commands to operate, train and replay. */
#include "daemon/base/command.h"

#include <stddef.h>

#define OTHER_PROGRAM(name, summary, group) {#name, summary, group, NULL},

static const struct ek_command COMMANDS[] = {
    {"run", "Process topics: detect and mitigate faults", "Run", ek_cmd_run},
    {"watch", "Watch a topic without any file", NULL, ek_cmd_watch},
    {"check", "Validate rules, manifests, models, profiles and configurations", NULL, ek_cmd_check},
    {"topics", "Check the topics of a configuration, or create them", NULL, ek_cmd_topics},
    {"demo", "Show a detected and mitigated fault, with an embedded broker", NULL, ek_cmd_demo},
    {"status", "Show status, findings and routes", "Operate", ek_cmd_client},
    {"incidents", "Show open and past incidents", NULL, ek_cmd_client},
    {"impact", "Show the rank changes of each route", NULL, ek_cmd_client},
    {"history", "Show decisions with actor and reason", NULL, ek_cmd_client},
    {"reload", "Reload rules, profile and model", NULL, ek_cmd_client},
    {"pause", "Forward all messages unchanged", NULL, ek_cmd_client},
    {"resume", "End a pause, or restart a route", NULL, ek_cmd_client},
    {"accept", "Accept the current level of a feature as normal", NULL, ek_cmd_client},
    {"revert", "Undo an accept", NULL, ek_cmd_client},
    {"pin", "Fix the action for a feature", NULL, ek_cmd_client},
    {"unpin", "Remove a pin", NULL, ek_cmd_client},
    {"profile", "Make a profile of training data", "Train", ek_cmd_profile},
    {"train", "Train a routable model", NULL, ek_cmd_train},
    {"eval", "Measure ranking quality, optionally with faults", NULL, ek_cmd_eval},
    {"export", "Convert a model for other runtimes", NULL, ek_cmd_export},
    {"capture", "Write messages of a topic to a file", "Record and replay", ek_cmd_capture},
    {"replay", "Process recorded messages offline", NULL, ek_cmd_replay},
    {"report", "Write one HTML file of an instance or of messages", NULL, ek_cmd_report},
    {"inspect", "Show the contents of a profile, model or capture", NULL, ek_cmd_inspect},
    EK_TOOLS_COMMANDS(OTHER_PROGRAM)};

int main(int argc, char **argv)
{
    static const struct ek_program EVENKEEL = {
        "evenkeel",
        "evenkeel detects scale shifts in ranking features and limits their effect on rankings.",
        COMMANDS, sizeof COMMANDS / sizeof *COMMANDS};
    return ek_program_run(&EVENKEEL, argc, argv);
}
