### The words of the waiting page, in German.

## What the state is

headline-challenge = Einen Moment, bevor Sie sich anstellen
headline-waiting = Sie sind in der Warteschlange
headline-early = Sie sind früh da
headline-paused = Die Warteschlange steht still
headline-turn = Sie sind an der Reihe
headline-inside = Sie sind drin
headline-away = Gerade kann niemand eintreten
headline-sold-out = Ausverkauft
headline-session-over = Ihr Besuch ist beendet
headline-missed = Ihr Platz ist verfallen
headline-busy = Einen Moment bitte
headline-no-room = Hier ist kein Warteraum

challenge = Wir prüfen, ob dies ein echter Browser ist. Ihr Browser erledigt das in wenigen Sekunden von selbst; Sie müssen nichts tun. Danach bekommen Sie Ihren Platz in der Warteschlange.
challenge-widget = Bitte lösen Sie die Aufgabe unten. Danach bekommen Sie Ihren Platz in der Warteschlange.
challenge-progress = Wird geprüft …
challenge-refused = Die Prüfung war nicht erfolgreich. Bitte laden Sie diese Seite neu.
challenge-scriptless = Diese Prüfung braucht JavaScript, das hier ausgeschaltet ist. Sie haben noch keinen Platz in der Warteschlange. Bitte schalten Sie JavaScript ein und laden Sie diese Seite neu, oder nehmen Sie einen anderen Browser.
paused = Im Moment wird niemand eingelassen. Ihr Platz bleibt Ihnen erhalten.
turn = Sie können jetzt eintreten.
inside = Sie können jetzt weitermachen.
inside-go-back = Gehen Sie zurück zu der Seite, von der Sie gekommen sind: Dort geht es weiter.
away = Bitte versuchen Sie es später noch einmal.
away-kept = Ihr Platz bleibt Ihnen erhalten. Bitte kommen Sie später wieder.
sold-out = Es ist nichts mehr übrig. Sie müssen nicht länger warten.
sold-out-kept = Es ist nichts mehr übrig. Sie müssen nicht länger warten. Ihr Platz bleibt Ihnen erhalten, falls doch noch etwas frei wird.
session-over = Ihre Zeit auf der Seite ist abgelaufen. Stellen Sie sich gerne wieder an.
missed = Sie waren zu lange weg. Stellen Sie sich gerne wieder an.
busy = Gerade kommen sehr viele auf einmal. Diese Seite versucht es von selbst noch einmal; bitte lassen Sie sie offen.
no-room = Diesen Warteraum gibt es nicht, oder er wurde geschlossen. Prüfen Sie die Adresse, oder gehen Sie zurück zu der Seite, von der Sie gekommen sind.

## Waits

wait-label = Voraussichtliche Wartezeit
start-label = Bis zum Beginn
wait-unknown = Noch nicht bekannt
wait-moment = Weniger als eine Minute
wait-minutes = { $minutes ->
    [one] Etwa { NUMBER($minutes) } Minute
   *[other] Etwa { NUMBER($minutes) } Minuten
}
wait-over-hours = { $hours ->
    [one] Mehr als eine Stunde
   *[other] Mehr als { NUMBER($hours) } Stunden
}
wait-over-day = Mehr als ein Tag
wait-between-minutes = { $to ->
    [one] Bis zu { NUMBER($to) } Minute
   *[other] Zwischen { NUMBER($from) } und { NUMBER($to) } Minuten
}
wait-between-hours = { $to ->
    [one] Bis zu { NUMBER($to) } Stunde
   *[other] Zwischen { NUMBER($from) } und { NUMBER($to) } Stunden
}
wait-up-to-hours = { $hours ->
    [one] Bis zu einer Stunde
   *[other] Bis zu { NUMBER($hours) } Stunden
}
progress-label = Fortschritt
progress = Etwa { NUMBER($percent) } % der Wartezeit sind vorbei

## Facts

position-label = Ihr Platz
ahead-label = Personen vor Ihnen
starts-label = Beginn
ends-label = Ende
updated-label = Zuletzt aktualisiert

## What is good to know

note-order = Alle kommen in der Reihenfolge hinein, in der sie gekommen sind.
note-chance = Wer als Nächstes hineinkommt, entscheidet das Los, und die Chance ist jederzeit für alle gleich. Neu laden ändert nichts daran.
note-early = Sie haben Ihren Platz schon. Vor dem Beginn wird niemand eingelassen.
note-draw = Zu Beginn werden die Plätze unter allen ausgelost, die da sind. Wer zuerst kam, spielt keine Rolle.
note-door = Sie stehen ganz vorne. Sobald ein Platz frei wird, sind Sie an der Reihe.
notice-again = Ihr früherer Platz war verfallen, deshalb haben Sie jetzt einen neuen.
notice-full = Gerade eben waren alle Plätze besetzt. Sie bleiben an der Reihe: Versuchen Sie es gleich noch einmal.
notice-late = Die Zeit, für die Ihr Platz freigehalten wurde, ist um. Wenn Sie jetzt eintreten, kommen Sie vielleicht noch hinein.
notice-stale = Die Warteschlange ist gerade nicht erreichbar. Das ist unser letzter Stand; Ihr Platz ist sicher.
unreachable = Der Warteraum ist gerade nicht erreichbar. Ihr Platz ist sicher, und diese Seite versucht es weiter.
unreachable-no-place = Der Warteraum ist gerade nicht erreichbar. Diese Seite versucht es weiter.
auto = Diese Seite aktualisiert sich von selbst. Sie müssen sie nicht neu laden.

## What to do

go-turn = Jetzt eintreten
go-inside = Weiter
go-again = Wieder anstellen
hold-label = Ihr Platz wird noch freigehalten:
hold-after = Kommen Sie bis dahin nicht, bekommt ihn die nächste Person. Sie bleiben ganz vorne.
alert-turn = Sie sind an der Reihe. Sie können jetzt eintreten.
alert-missed = Ihre Zeit zum Eintreten ist vorbei.
sound = Ton abspielen, wenn ich an der Reihe bin
notify = Mich benachrichtigen, wenn ich an der Reihe bin

## Closing the page

closing = Was passiert, wenn ich diese Seite schließe?
closing-minutes = { $minutes ->
    [one] Ihr Platz bleibt { NUMBER($minutes) } Minute lang erhalten. Wenn Sie rechtzeitig mit demselben Browser wiederkommen, haben Sie nichts verloren.
   *[other] Ihr Platz bleibt { NUMBER($minutes) } Minuten lang erhalten. Wenn Sie rechtzeitig mit demselben Browser wiederkommen, haben Sie nichts verloren.
}
closing-seconds = { $seconds ->
    [one] Ihr Platz bleibt { NUMBER($seconds) } Sekunde lang erhalten. Wenn Sie rechtzeitig mit demselben Browser wiederkommen, haben Sie nichts verloren.
   *[other] Ihr Platz bleibt { NUMBER($seconds) } Sekunden lang erhalten. Wenn Sie rechtzeitig mit demselben Browser wiederkommen, haben Sie nichts verloren.
}
closing-kept = Ihr Platz bleibt erhalten. Wenn Sie mit demselben Browser wiederkommen, haben Sie nichts verloren.
closing-turn = Sie sind jetzt an der Reihe, aber nur für eine Weile. Kommen Sie mit demselben Browser wieder, bevor diese Zeit um ist.
closing-over = Nichts: Sie haben zurzeit keinen Platz in der Warteschlange.

## The foot

language = Sprache
change-language = Ändern
room = Warteraum
