/* Why it waited: of lanes (RISCs) that wait for counters and raise them, who ended each wait, the path of work that decided
 * when the end came, and how much longer all else might have taken. Pure: from events with numbers to answers, for
 * generated graphs as for a launch. Who makes events of a log: causes_log.h; who prints: causes_text.c. docs/causes.md
 * says what the terms mean.
 *
 * The model: between two events a lane works, and that work takes what it took. A want goes on when its lane has come to
 * it and the counter has the value: a hand-over later than the give. So the times that were recorded are the longest
 * paths of a graph, and lengthening or shortening work is a question to that graph. Which give ended a want follows from
 * counter and value, never from names or from who was near. What nobody recorded is unknown, and a path ends there. */
#ifndef DEVLOG_ANSWERS_CAUSES_H
#define DEVLOG_ANSWERS_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CAUSES_NONE       UINT32_MAX
#define CAUSES_NO_COUNTER UINT64_MAX /* a want that does not say of what */
#define CAUSES_NEVER      UINT64_MAX

/* What a lane waits for. */
typedef enum causes_why {
    CAUSES_FULL,  /* room in a circular buffer */
    CAUSES_EMPTY, /* a page in one */
    CAUSES_SEMAPHORE,
    CAUSES_NOC,
    CAUSES_OTHER,
    CAUSES_WHYS
} causes_why;

typedef enum causes_kind { CAUSES_WANT, CAUSES_GIVE } causes_kind;

typedef struct causes_event {
    uint64_t at;      /* when the lane came to it, or gave */
    uint64_t until;   /* of a want, when it went on; at: it did not wait */
    uint64_t counter; /* the caller's number of one counter in one place */
    uint32_t value;   /* that it must have reached, or reaches now */
    uint8_t kind, why;
} causes_event;

typedef struct causes_lane {
    uint64_t start, end;
    const causes_event *events; /* in order of time; not before start or behind end */
    size_t n;
    uint32_t group; /* of lanes whose ends are waited for together: a core */
    uint32_t clock; /* stamps of one clock are exact among one another */
    double error;   /* of two clocks they are good to the sum of both */
    /* Records are missing up to the first (0: none are), and from the second on (CAUSES_NEVER: none are). */
    uint64_t lost_until, lost_from;
} causes_lane;

typedef struct causes_graph {
    const causes_lane *lanes;
    size_t n_lanes;
    const uint64_t
        *group_ends; /* when each group was done: what it waited behind its last lane is part of each path */
    size_t n_groups;
    int64_t hand_over; /* of wants that were met when they looked; < 0: the shortest of those that waited */
    bool incomplete;   /* something was lost, nobody knows where: no absence means anything */
} causes_graph;

/* What became of a want. */
typedef enum causes_state {
    CAUSES_NO_WANT,
    CAUSES_READY,    /* it was met when the lane looked */
    CAUSES_ENDED,    /* it waited, and a give ended that */
    CAUSES_OWN,      /* it took time, and not for what it wanted: that had been given before */
    CAUSES_UNNAMED,  /* it does not say what it waited for */
    CAUSES_UNGIVEN,  /* nothing that was recorded gives it */
    CAUSES_TWICE,    /* several do */
    CAUSES_TOO_LATE, /* what gives it came behind its end, further than clocks may be off */
    CAUSES_STATES
} causes_state;

/* An event of a lane, or (first and last) its start and its end; then the groups, then the end of all. */
typedef struct causes_node {
    uint64_t time;   /* when what is behind it began; of a want `until` */
    uint64_t behind; /* the longest way from here to the end */
    int64_t over;    /* hand-over from the give */
    uint32_t lane;
    uint32_t give;  /* node that meets this want; CAUSES_NONE */
    uint32_t wants; /* of a give, the first want that it meets; then `next` */
    uint32_t next;
    uint32_t place; /* in an order in which causes come first */
    uint8_t state;
    bool waited;  /* its lane waited for the give */
    bool unknown; /* nobody knows what its lane did before it, or what it waited for */
} causes_node;

typedef enum causes_by {
    CAUSES_BY_START,   /* the path begins: its lane was started then */
    CAUSES_BY_WORK,    /* the lane worked since the node before */
    CAUSES_BY_GIVE,    /* it waited for the node before */
    CAUSES_BY_LAST,    /* the group, or the whole, waited for the last of its parts */
    CAUSES_BY_UNKNOWN, /* the path is not known further back */
} causes_by;

typedef struct causes_step {
    uint32_t node;
    uint8_t by; /* how the path came to it */
    uint64_t
        most; /* BY_WORK: what shortening this work could gain at most, before another path is the longest */
} causes_step;

typedef struct causes {
    causes_node *nodes;
    size_t n;
    const causes_graph *graph; /* borrowed */
    size_t *first;             /* node of each lane's start */
    size_t group_0;            /* first node of the groups; the end of all is the last node */
    uint64_t start, end;
    causes_step *path; /* from the start, or from where it is known, to the end */
    size_t n_path;
    int64_t hand_over[CAUSES_WHYS];
    bool exact; /* no wait and no part of a lane is unknown; otherwise slack and gains are upper bounds */
    size_t unknown_wants;
} causes;

/* Linear in events, but for the sorting of what could take the path's place. */
devlog_status causes_make(causes *c, const causes_graph *graph, devlog_error *err);
void causes_free(causes *c);

/* The work of a lane in front of a node (not of starts, groups and the end): from..until, and how much longer it may
 * take before the end comes later. */
static inline uint64_t causes_work_from(const causes *c, size_t node)
{
    return c->nodes[node - 1].time;
}
uint64_t causes_work_until(const causes *c, size_t node);
uint64_t causes_slack(const causes *c, size_t node);
/* The least slack of the work of a lane between two times; CAUSES_NEVER: it does not work there. */
uint64_t causes_slack_of(const causes *c, uint32_t lane, uint64_t from, uint64_t until);
/* The first node of a lane (not its start) in front of which work or a wait goes on behind this time. */
size_t causes_node_behind(const causes *c, uint32_t lane, uint64_t time);

/* What could be otherwise. */
typedef struct causes_change {
    const uint64_t
        *less; /* the work in front of node i takes less[i] less (at most all of it); NULL: as it was */
    /* Wants of room (CAUSES_FULL) go on when their counter is so much below what they want: each buffer has so many pages
     * more. 0: as it was. */
    uint32_t room;
} causes_change;

/* When the end would come then. */
devlog_status causes_end_with(const causes *c, const causes_change *change, uint64_t *end, devlog_error *err);
devlog_status causes_end_if(const causes *c, const uint64_t *less, uint64_t *end, devlog_error *err);

#endif
