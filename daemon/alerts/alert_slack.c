/* Slack's incoming webhooks: a text for notifications, blocks for the eye. */
#include "daemon/alerts/alert_parts.h"

#include <stdio.h>
#include <string.h>

/* Of a section Slack takes 3000 characters. */
enum { SECTION_BYTES = 2900, LINK_BYTES = 1420, ADDRESS_BYTES = LINK_BYTES - 40 };

/* A name of ours is not to become a mention or a link of theirs. */
static void escape(const char *text, char *out, size_t size)
{
    size_t at = 0;
    for (; *text && at + 8 < size; text++) {
        const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;";
        if (strchr("&<>", *text))
            at += (size_t)snprintf(out + at, size - at, "%s", as);
        else
            out[at++] = *text;
    }
    out[at] = 0;
}

static void add_text(struct ek_json_writer *w, const char *text)
{
    ek_json_open(w, "text", '{');
    ek_alert_pair(w, "type", "mrkdwn");
    ek_alert_pair(w, "text", text);
    ek_json_close(w, '}');
}

static void add_section(struct ek_json_writer *w, const char *text)
{
    if (!*text)
        return;
    ek_json_open(w, NULL, '{');
    ek_alert_pair(w, "type", "section");
    add_text(w, text);
    ek_json_close(w, '}');
}

static void write_head(const struct ek_alert_about *about, const struct ek_alert *a,
                       char out[SECTION_BYTES])
{
    char sentence[EK_ALERT_SENTENCE_BYTES], all[2 * EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    if (a->firing)
        snprintf(all, sizeof all, "%s, %.300s: %s", ek_alert_severity_name(ek_alert_severity_of(a)),
                 about->service, sentence);
    else
        snprintf(all, sizeof all, "over, %.300s: %s", about->service, sentence);
    escape(all, out, SECTION_BYTES);
}

/* "<address|text>" with nothing in the address that would end it. */
static void write_link(const char *address, const char *text, char out[LINK_BYTES])
{
    char plain[ADDRESS_BYTES], escaped[ADDRESS_BYTES];
    size_t at = 0;
    for (; *address && at + 4 <= sizeof plain; address++)
        at += (size_t)snprintf(plain + at, sizeof plain - at, *address == '|' ? "%%7C" : "%c",
                               *address);
    plain[at] = 0;
    escape(plain, escaped, sizeof escaped);
    snprintf(out, LINK_BYTES, "<%s|%s>", escaped, text);
}

/* What is no address is written as it is: a file in the sources. */
static void write_runbook(const char *runbook, char out[LINK_BYTES])
{
    char escaped[ADDRESS_BYTES];
    if (!strncmp(runbook, "http", 4)) {
        write_link(runbook, "what to do", out);
        return;
    }
    escape(runbook, escaped, sizeof escaped);
    snprintf(out, LINK_BYTES, "what to do: %s", escaped);
}

static void write_links(const struct ek_alert_about *about, const struct ek_alert *a,
                        char out[SECTION_BYTES])
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    char first[LINK_BYTES] = "", second[LINK_BYTES];
    ek_alert_page(about, a, page);
    ek_alert_runbook(about, a, runbook);
    if (*page)
        write_link(page, "the feature's page", first);
    write_runbook(runbook, second);
    snprintf(out, SECTION_BYTES, "%s%s%s", first, *first ? ", " : "", second);
}

int ek_alert_slack(struct ek_buf *out, const struct ek_alert_about *about, const struct ek_alert *a)
{
    struct ek_json_writer w;
    char head[SECTION_BYTES], section[SECTION_BYTES];
    write_head(about, a, head);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_alert_pair(&w, "text", head);
    ek_json_open(&w, "blocks", '[');
    add_section(&w, head);
    escape(a->evidence, section, sizeof section);
    if (a->firing)
        add_section(&w, section);
    write_links(about, a, section);
    add_section(&w, section);
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    return w.rc;
}
