### The words of the waiting page, in Polish.

## What the state is

headline-challenge = Chwila przed ustawieniem się w kolejce
headline-waiting = Czekasz w kolejce
headline-early = To jeszcze przed rozpoczęciem
headline-paused = Kolejka stoi
headline-turn = Twoja kolej
headline-inside = Możesz wejść dalej
headline-away = Teraz nikt nie może wejść
headline-sold-out = Wyprzedane
headline-session-over = Twoja wizyta dobiegła końca
headline-missed = Twoje miejsce przepadło
headline-busy = Chwileczkę
headline-no-room = Nie ma tu poczekalni

challenge = Sprawdzamy, czy to prawdziwa przeglądarka. Twoja zrobi to sama w kilka sekund; nie musisz nic robić. Potem dostaniesz swoje miejsce w kolejce.
challenge-widget = Rozwiąż zadanie poniżej. Potem dostaniesz swoje miejsce w kolejce.
challenge-progress = Sprawdzanie…
challenge-refused = Sprawdzenie się nie powiodło. Załaduj tę stronę ponownie.
challenge-scriptless = To sprawdzenie wymaga JavaScriptu, który jest tu wyłączony. Nie masz jeszcze miejsca w kolejce. Włącz JavaScript i załaduj tę stronę ponownie albo użyj innej przeglądarki.
paused = W tej chwili nikt nie wchodzi. Twoje miejsce jest zachowane.
turn = Możesz teraz wejść.
inside = Możesz przejść dalej.
inside-go-back = Wróć na poprzednią stronę: tam możesz przejść dalej.
away = Spróbuj ponownie później.
away-kept = Twoje miejsce jest zachowane. Wróć później.
sold-out = Nic już nie zostało, więc nie trzeba dłużej czekać.
sold-out-kept = Nic już nie zostało, więc nie trzeba dłużej czekać. Zachowujesz swoje miejsce na wypadek, gdyby coś jeszcze się zwolniło.
session-over = Czas wizyty się skończył. Możesz ponownie stanąć w kolejce.
missed = Nieobecność trwała zbyt długo. Możesz ponownie stanąć w kolejce.
busy = Bardzo dużo osób przychodzi w tej samej chwili. Ta strona spróbuje ponownie sama; nie zamykaj jej.
no-room = Ta poczekalnia nie istnieje albo została zamknięta. Sprawdź adres lub wróć na poprzednią stronę.

## Waits

wait-label = Przewidywany czas oczekiwania
start-label = Do rozpoczęcia
wait-unknown = Jeszcze nieznany
wait-moment = Mniej niż minuta
wait-minutes = { $minutes ->
    [one] Około { NUMBER($minutes) } minuty
    [few] Około { NUMBER($minutes) } minut
    [many] Około { NUMBER($minutes) } minut
   *[other] Około { NUMBER($minutes) } minuty
}
wait-over-hours = { $hours ->
    [one] Ponad godzina
    [few] Ponad { NUMBER($hours) } godziny
    [many] Ponad { NUMBER($hours) } godzin
   *[other] Ponad { NUMBER($hours) } godziny
}
wait-over-day = Ponad dobę
wait-between-minutes = { $to ->
    [one] Do { NUMBER($to) } minuty
    [few] Od { NUMBER($from) } do { NUMBER($to) } minut
    [many] Od { NUMBER($from) } do { NUMBER($to) } minut
   *[other] Od { NUMBER($from) } do { NUMBER($to) } minuty
}
wait-between-hours = { $to ->
    [one] Do { NUMBER($to) } godziny
    [few] Od { NUMBER($from) } do { NUMBER($to) } godzin
    [many] Od { NUMBER($from) } do { NUMBER($to) } godzin
   *[other] Od { NUMBER($from) } do { NUMBER($to) } godziny
}
wait-up-to-hours = { $hours ->
    [one] Do godziny
    [few] Do { NUMBER($hours) } godzin
    [many] Do { NUMBER($hours) } godzin
   *[other] Do { NUMBER($hours) } godziny
}
progress-label = Postęp
progress = Minęło około { NUMBER($percent) }% czasu oczekiwania

## Facts

position-label = Twoje miejsce
ahead-label = Osoby przed Tobą
starts-label = Początek
ends-label = Koniec
updated-label = Ostatnia aktualizacja

## What is good to know

note-order = Wszyscy wchodzą w kolejności przybycia.
note-chance = O tym, kto wejdzie następny, decyduje los, a szansa jest w każdej chwili taka sama dla wszystkich. Odświeżanie strony niczego nie zmienia.
note-early = Masz już swoje miejsce. Przed rozpoczęciem nikt nie wejdzie.
note-draw = Na początku miejsca zostaną rozlosowane wśród wszystkich obecnych. Nie ma znaczenia, kto był pierwszy.
note-door = Jesteś na początku kolejki. Twoja kolej przyjdzie, gdy tylko zwolni się miejsce.
notice-again = Poprzednie miejsce wygasło, więc masz teraz nowe.
notice-full = Przed chwilą wszystkie miejsca były zajęte. Twoja kolej nie przepadła: spróbuj ponownie za moment.
notice-late = Czas, przez który miejsce na Ciebie czekało, minął. Jeśli wejdziesz teraz, może jeszcze się udać.
notice-stale = W tej chwili nie mamy połączenia z kolejką. To ostatnie, co wiemy; Twoje miejsce jest bezpieczne.
unreachable = W tej chwili nie mamy połączenia z poczekalnią. Twoje miejsce jest bezpieczne, a ta strona próbuje dalej.
unreachable-no-place = W tej chwili nie mamy połączenia z poczekalnią. Ta strona próbuje dalej.
auto = Ta strona odświeża się sama. Nie trzeba jej przeładowywać.

## What to do

go-turn = Wejdź teraz
go-inside = Dalej
go-again = Wróć do kolejki
hold-label = Twoje miejsce czeka jeszcze
hold-after = Jeśli nie wejdziesz w tym czasie, zajmie je następna osoba. Pozostaniesz na początku kolejki.
alert-turn = Twoja kolej. Możesz teraz wejść.
alert-missed = Twoja kolej minęła.
sound = Odtwórz dźwięk, gdy przyjdzie moja kolej
notify = Powiadom mnie, gdy przyjdzie moja kolej

## Closing the page

closing = Co się stanie, jeśli zamknę tę stronę?
closing-minutes = { $minutes ->
    [one] Twoje miejsce będzie zachowane przez { NUMBER($minutes) } minutę. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
    [few] Twoje miejsce będzie zachowane przez { NUMBER($minutes) } minuty. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
    [many] Twoje miejsce będzie zachowane przez { NUMBER($minutes) } minut. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
   *[other] Twoje miejsce będzie zachowane przez { NUMBER($minutes) } minuty. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
}
closing-seconds = { $seconds ->
    [one] Twoje miejsce będzie zachowane przez { NUMBER($seconds) } sekundę. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
    [few] Twoje miejsce będzie zachowane przez { NUMBER($seconds) } sekundy. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
    [many] Twoje miejsce będzie zachowane przez { NUMBER($seconds) } sekund. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
   *[other] Twoje miejsce będzie zachowane przez { NUMBER($seconds) } sekundy. Jeśli w tym czasie wrócisz w tej samej przeglądarce, nie stracisz go.
}
closing-kept = Twoje miejsce będzie zachowane. Jeśli wrócisz w tej samej przeglądarce, nie stracisz go.
closing-turn = Teraz jest Twoja kolej, ale tylko przez pewien czas. Wróć w tej samej przeglądarce, zanim on minie.
closing-over = Nic: w tej chwili nie masz miejsca w kolejce.

## The foot

language = Język
change-language = Zmień
room = Poczekalnia
