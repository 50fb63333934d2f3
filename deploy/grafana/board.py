#!/usr/bin/env python3
"""Writes the board dashboards/vestibule.json: `python3 deploy/grafana/board.py`, after a change here.

A panel is a title, what it shows, a unit and its queries; that all of them look alike is this file's part. `make alerts`
fails while the board is not what this file writes.
"""

import json
import sys
from pathlib import Path

BOARD = Path(__file__).resolve().parent / "dashboards/vestibule.json"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
DAY = 86400


def series(room_metric, name="{{room}}", wrap="{}"):
    """A figure of the rooms that are chosen, each told by the controller that serves it."""
    return (f"max by (room) ({wrap.format(room_metric + chosen())})", name)


def chosen():
    return '{room=~"$room"}'


def total(room_metric):
    return (f"sum(max by (room) ({room_metric}{chosen()}))", "all")


def rate(metric, by, name, labels=""):
    return (f"sum by ({by}) (rate({metric}{labels}[1m]))", name)


def slowest(histogram, by):
    """The 99th percentile."""
    return (f"histogram_quantile(0.99, sum by (le, {by}) (rate({histogram}_bucket[5m])))", f"{{{{{by}}}}}")


def red_from(value):
    return [("green", None), ("red", value)]


def red_below(value):
    return [("red", None), ("green", value)]


def graph(title, shows, unit, *queries, stacked=False, size=(8, 8)):
    custom = {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never", "spanNulls": False}
    if stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    defaults = {"unit": unit, "min": 0, "color": {"mode": "palette-classic"}, "custom": custom}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, shows, queries, size, defaults, options)


def figure(title, shows, unit, *queries, steps=(("text", None),), size=(4, 4)):
    steps = [{"color": color, "value": value} for color, value in steps]
    thresholds = {"mode": "absolute", "steps": steps}
    defaults = {"unit": unit, "color": {"mode": "thresholds"}, "thresholds": thresholds}
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "area",
        "justifyMode": "auto",
        "orientation": "auto",
        "textMode": "auto",
    }
    return panel("stat", title, shows, queries, size, defaults, options)


def panel(kind, title, shows, queries, size, defaults, options):
    targets = [
        {"refId": chr(ord("A") + nth), "datasource": SOURCE, "expr": expr, "legendFormat": name, "range": True}
        for nth, (expr, name) in enumerate(queries)
    ]
    return {
        "type": kind,
        "title": title,
        "description": shows,
        "datasource": SOURCE,
        "gridPos": {"w": size[0], "h": size[1]},
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": targets,
    }


ROWS = {
    "Now": [
        figure(
            "Alarms",
            "Alarms that fire. Each has a page of its name in docs/runbooks.",
            "short",
            ('count(ALERTS{alertname=~"Vestibule.+", alertstate="firing"}) or vector(0)', "alarms"),
            steps=red_from(1),
        ),
        figure("Waiting", "Visitors who wait and are still there.", "short", total("vestibule_room_waiting")),
        figure("Inside", "Sessions.", "short", total("vestibule_room_active_users")),
        figure("Admitted", "Admissions of the last 60 seconds.", "short", total("vestibule_room_admitted_last_minute")),
        figure(
            "Leading",
            "Controllers that lead: one. None is VestibuleNoLeader.",
            "short",
            ("sum(vestibule_leading)", "leading"),
            steps=[("red", None), ("green", 1), ("red", 2)],
        ),
        figure(
            "Redis answers",
            "Whether Redis answers all instances. If not: VestibuleRedisAway.",
            "bool_yes_no",
            ("min(vestibule_redis_answers)", "all instances"),
            steps=red_below(1),
        ),
    ],
    "Rooms": [
        graph("Waiting", "Visitors who wait and are still there.", "short", series("vestibule_room_waiting")),
        graph(
            "Inside, and the ceiling",
            "Sessions, and total_active_users where it is set. A full room in which nobody waits is fine.",
            "short",
            series("vestibule_room_active_users"),
            series("vestibule_room_total_active_users", "{{room}}, ceiling"),
        ),
        graph(
            "Free slots",
            "Visitors who may enter now by the limits. Few while people wait, else VestibuleSeatsEmpty.",
            "short",
            series("vestibule_room_slots_free"),
        ),
        graph(
            "Newcomers",
            "Queue numbers handed out, per minute.",
            "short",
            series("vestibule_room_queue_counter", wrap="clamp_min(delta({}[1m]), 0)"),
        ),
        graph(
            "Admissions, and the rate limit",
            "Admissions of the last 60 seconds, and new_users_per_minute where it is set.",
            "short",
            series("vestibule_room_admitted_last_minute"),
            series("vestibule_room_new_users_per_minute", "{{room}}, limit"),
        ),
        graph(
            "Told and true waits",
            "Of whoever's turn came last: the wait that was told, and how long it was. Apart: VestibuleEstimatesOff.",
            "s",
            series("vestibule_room_wait_told_seconds", "{{room}}, told"),
            series("vestibule_room_wait_true_seconds", "{{room}}, true"),
        ),
        graph(
            "Ghosts",
            "Places in line whose holders are not there any more: VestibuleGhostsInLine.",
            "short",
            (
                f"max by (room) (clamp_min(vestibule_room_places{chosen()} - vestibule_room_waiting{chosen()}, 0))",
                "{{room}}",
            ),
        ),
        graph(
            "Challenges",
            "Newcomers of rooms with a challenge, by what came of it, per second.",
            "reqps",
            rate("vestibule_challenges_total", "outcome", "{{outcome}}", chosen()),
            rate("vestibule_challenges_endless_line_total", "", "put into the endless line", chosen()),
        ),
        graph(
            "Networks at their limits",
            "Calls of visitors whose network had as much as it may have, per second.",
            "reqps",
            rate("vestibule_network_limits_reached_total", "limit, mode", "{{limit}}, {{mode}}"),
        ),
    ],
    "Services": [
        graph(
            "Requests",
            "By status, per second, of both services.",
            "reqps",
            rate("vestibule_http_requests_total", "status", "{{status}}"),
            stacked=True,
        ),
        graph(
            "Slowest of a hundred, by route",
            "From a request's head to the answer's: the 99th percentile. Claims may wait two seconds for a seat.",
            "s",
            slowest("vestibule_http_request_duration_seconds", "route"),
        ),
        graph(
            "Problems",
            "Problem documents answered, by code, per second. Many of overloaded: VestibuleShedding.",
            "reqps",
            rate("vestibule_http_problems_total", "code", "{{code}}"),
        ),
        graph(
            "Decisions for gateways",
            "What was said about requests for the site, per second.",
            "reqps",
            rate("vestibule_authorizer_decisions_total", "decision", "{{decision}}"),
        ),
        graph(
            "Connections",
            "Open ones by instance, and refused ones per second.",
            "short",
            ("vestibule_connections_open", "{{instance}}"),
            rate("vestibule_connections_refused_total", "instance, reason", "{{instance}}, refused: {{reason}}"),
        ),
        graph(
            "Requests in flight",
            "Not answered yet, by route. Live pages stay open.",
            "short",
            ("sum by (route) (vestibule_http_requests_in_flight)", "{{route}}"),
        ),
    ],
    "Controllers, and Redis": [
        graph(
            "Rooms served",
            "By controller; all rooms together, else VestibuleRoomsNotServed.",
            "short",
            ("vestibule_rooms_served", "{{instance}}"),
            stacked=True,
        ),
        graph(
            "Slowest tick of a hundred",
            "99th percentile of one room's tick; four a second are due of a busy room.",
            "s",
            slowest("vestibule_tick_duration_seconds", "instance"),
        ),
        graph(
            "Failed ticks, restored rooms",
            "In a minute. Restored: VestibuleRedisRewound.",
            "short",
            ("sum by (instance) (increase(vestibule_ticks_failed_total[1m]))", "{{instance}}, failed"),
            ("sum by (instance) (increase(vestibule_restorations_total[1m]))", "{{instance}}, restored"),
        ),
        graph("Redis calls", "Per second.", "ops", rate("vestibule_redis_calls_total", "instance", "{{instance}}")),
        graph(
            "What is found about Redis",
            "Findings about the servers (1: found), and answers per second that too few replicas are known to have.",
            "short",
            ("max by (finding) (vestibule_redis_findings)", "{{finding}}"),
            rate("vestibule_redis_replica_shortfalls_total", "", "replica shortfalls"),
        ),
        graph(
            "Age of the history",
            "Since the end of the last minute that is written. Three minutes: VestibuleHistoryNotWritten.",
            "s",
            ("time() - vestibule_history_closed_timestamp_seconds", "{{instance}}"),
        ),
    ],
    "What ends, and operators' calls": [
        figure(
            "Certificates end in",
            "Below 14 days: VestibuleCertificateEnds.",
            "s",
            ("vestibule_tls_certificate_expiry_timestamp_seconds - time()", "{{instance}}"),
            steps=red_below(14 * DAY),
            size=(6, 6),
        ),
        figure(
            "API tokens end in",
            "Below 3 days: VestibuleApiTokenEnds.",
            "s",
            ("min by (token) (vestibule_api_token_expiry_timestamp_seconds) - time()", "{{token}}"),
            steps=red_below(3 * DAY),
            size=(6, 6),
        ),
        figure(
            "Age of the signing key",
            "After a year: VestibuleSigningKeyOld.",
            "s",
            ("time() - min by (kid) (vestibule_signing_key_created_timestamp_seconds)", "{{kid}}"),
            steps=red_from(365 * DAY),
            size=(6, 6),
        ),
        graph(
            "Refused calls of operators",
            "In a minute, by reason; and changes that are missing in the audit log.",
            "short",
            ("sum by (reason) (increase(vestibule_operator_calls_refused_total[1m]))", "{{reason}}"),
            ("sum(increase(vestibule_audit_failed_total[1m]))", "missing in the audit log"),
            size=(6, 6),
        ),
    ],
}

ROOMS = "label_values(vestibule_room_waiting, room)"
VARIABLES = [
    {"name": "datasource", "type": "datasource", "label": "Prometheus", "query": "prometheus", "hide": 0, "refresh": 1},
    {
        "name": "room",
        "type": "query",
        "label": "Room",
        "datasource": SOURCE,
        "query": {"query": ROOMS, "refId": "rooms"},
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
        "refresh": 2,
        "sort": 1,
        "hide": 0,
    },
]


def place(rows):
    """The panels from left to right and from top to bottom, each with an id of its own."""
    placed, y = [], 0
    for title, panels in rows.items():
        heading = {"type": "row", "title": title, "collapsed": False, "panels": []}
        placed.append({"id": len(placed) + 1, **heading, "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}})
        x, y = 0, y + 1
        for shown in panels:
            size = shown["gridPos"]
            if x + size["w"] > WIDTH:
                x, y = 0, y + size["h"]
            placed.append({"id": len(placed) + 1, **shown, "gridPos": {"x": x, "y": y, **size}})
            x += size["w"]
        y += panels[-1]["gridPos"]["h"]
    return placed


def board():
    restored = {
        "name": "Rooms restored",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "orange",
        "expr": "sum by (instance) (increase(vestibule_restorations_total[1m])) > 0",
    }
    return {
        "uid": "vestibule",
        "title": "Vestibule",
        "description": "Alarms and their pages: docs/runbooks. Metrics: docs/metrics.md.",
        "tags": ["vestibule"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": [restored]},
        "templating": {"list": VARIABLES},
        "panels": place(ROWS),
    }


TEXT = json.dumps(board(), indent=1) + "\n"
if sys.argv[1:] != ["--check"]:
    BOARD.write_text(TEXT)
elif BOARD.read_text() != TEXT:
    sys.exit(f"{BOARD.name} is not what deploy/grafana/board.py writes: run it, and commit both")
