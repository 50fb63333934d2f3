### The words of the waiting page, in Dutch.

## What the state is

headline-challenge = Een ogenblik voordat u aansluit
headline-waiting = Je staat in de wachtrij
headline-early = Je bent vroeg
headline-paused = De wachtrij staat stil
headline-turn = Je bent aan de beurt
headline-inside = Je bent binnen
headline-away = Er kan nu niemand naar binnen
headline-sold-out = Uitverkocht
headline-session-over = Je bezoek is afgelopen
headline-missed = Je bent je plek kwijt
headline-busy = Een ogenblik geduld
headline-no-room = Hier is geen wachtkamer

challenge = We controleren of dit een echte browser is. Die van u doet dit vanzelf in een paar seconden; u hoeft niets te doen. Daarna krijgt u uw plaats in de rij.
challenge-widget = Los de controle hieronder op. Daarna krijgt u uw plaats in de rij.
challenge-progress = Bezig met controleren…
challenge-refused = De controle is niet gelukt. Laad deze pagina opnieuw.
challenge-scriptless = Deze controle heeft JavaScript nodig, dat hier is uitgeschakeld. U hebt nog geen plaats in de rij. Zet JavaScript aan en laad deze pagina opnieuw, of gebruik een andere browser.
paused = Op dit moment wordt er niemand binnengelaten. Je houdt je plek.
turn = Je kunt nu naar binnen.
inside = Je kunt nu verder.
inside-go-back = Ga terug naar de pagina waar je vandaan kwam: daar kun je verder.
away = Probeer het later nog eens.
away-kept = Je houdt je plek. Kom later terug.
sold-out = Er is niets meer over. Je hoeft niet langer te wachten.
sold-out-kept = Er is niets meer over. Je hoeft niet langer te wachten. Je houdt je plek, voor het geval er toch weer iets vrijkomt.
session-over = Je tijd binnen is om. Je kunt weer in de wachtrij gaan staan.
missed = Je was te lang weg. Je kunt weer in de wachtrij gaan staan.
busy = Er komen heel veel mensen tegelijk. Deze pagina probeert het vanzelf opnieuw; laat hem open staan.
no-room = Deze wachtkamer bestaat niet of is gesloten. Controleer het adres of ga terug naar de pagina waar je vandaan kwam.

## Waits

wait-label = Verwachte wachttijd
start-label = Tot het begin
wait-unknown = Nog niet bekend
wait-moment = Minder dan een minuut
wait-minutes = { $minutes ->
    [one] Ongeveer { NUMBER($minutes) } minuut
   *[other] Ongeveer { NUMBER($minutes) } minuten
}
wait-over-hours = { $hours ->
    [one] Meer dan een uur
   *[other] Meer dan { NUMBER($hours) } uur
}
wait-over-day = Meer dan een dag
wait-between-minutes = { $to ->
    [one] Hooguit { NUMBER($to) } minuut
   *[other] Tussen { NUMBER($from) } en { NUMBER($to) } minuten
}
wait-between-hours = { $to ->
    [one] Hooguit { NUMBER($to) } uur
   *[other] Tussen { NUMBER($from) } en { NUMBER($to) } uur
}
wait-up-to-hours = { $hours ->
    [one] Hooguit een uur
   *[other] Hooguit { NUMBER($hours) } uur
}
progress-label = Voortgang
progress = Ongeveer { NUMBER($percent) }% van het wachten zit erop

## Facts

position-label = Je plek
ahead-label = Mensen voor je
starts-label = Begin
ends-label = Einde
updated-label = Laatst bijgewerkt

## What is good to know

note-order = Iedereen gaat naar binnen op volgorde van aankomst.
note-chance = Het lot bepaalt wie hierna naar binnen gaat, en de kans is op elk moment voor iedereen gelijk. De pagina opnieuw laden verandert daar niets aan.
note-early = Je hebt je plek al. Voor het begin gaat er niemand naar binnen.
note-draw = Bij het begin worden de plekken verloot onder iedereen die er is. Het maakt niet uit wie er het eerst was.
note-door = Je staat vooraan. Zodra er een plek vrijkomt, ben je aan de beurt.
notice-again = Je vorige plek was verlopen, daarom heb je een nieuwe.
notice-full = Daarnet was alles bezet. Je beurt is niet verloren: probeer het zo nog eens.
notice-late = De tijd dat je plek werd vastgehouden is om. Als je nu naar binnen gaat, lukt het misschien nog.
notice-stale = We kunnen de wachtrij nu niet bereiken. Dit is het laatste wat we weten; je plek is veilig.
unreachable = We kunnen de wachtkamer nu niet bereiken. Je plek is veilig en deze pagina blijft het proberen.
unreachable-no-place = We kunnen de wachtkamer nu niet bereiken. Deze pagina blijft het proberen.
auto = Deze pagina werkt zichzelf bij. Je hoeft hem niet opnieuw te laden.

## What to do

go-turn = Nu naar binnen
go-inside = Verder
go-again = Weer in de wachtrij
hold-label = Je plek wordt nog vastgehouden:
hold-after = Kom je niet op tijd, dan krijgt de volgende hem. Jij blijft vooraan staan.
alert-turn = Je bent aan de beurt. Je kunt nu naar binnen.
alert-missed = Je beurt is voorbij.
sound = Geluid afspelen als ik aan de beurt ben
notify = Geef een melding als ik aan de beurt ben

## Closing the page

closing = Wat gebeurt er als ik deze pagina sluit?
closing-minutes = { $minutes ->
    [one] Je plek blijft { NUMBER($minutes) } minuut bewaard. Kom je op tijd terug met dezelfde browser, dan ben je hem niet kwijt.
   *[other] Je plek blijft { NUMBER($minutes) } minuten bewaard. Kom je op tijd terug met dezelfde browser, dan ben je hem niet kwijt.
}
closing-seconds = { $seconds ->
    [one] Je plek blijft { NUMBER($seconds) } seconde bewaard. Kom je op tijd terug met dezelfde browser, dan ben je hem niet kwijt.
   *[other] Je plek blijft { NUMBER($seconds) } seconden bewaard. Kom je op tijd terug met dezelfde browser, dan ben je hem niet kwijt.
}
closing-kept = Je plek blijft bewaard. Kom je terug met dezelfde browser, dan ben je hem niet kwijt.
closing-turn = Je bent nu aan de beurt, maar niet voor altijd. Kom met dezelfde browser terug voordat die tijd om is.
closing-over = Niets: je hebt nu geen plek in de wachtrij.

## The foot

language = Taal
change-language = Wijzigen
room = Wachtkamer
