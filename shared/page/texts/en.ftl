### The words of the waiting page, in English. Every other language has the same messages with the
### same variables. Numbers are given twice over: as they are, to choose a plural by, and written
### as the language writes them with NUMBER().

## What the state is

headline-challenge = One moment before you join
headline-waiting = You are in line
headline-early = You are early
headline-paused = The line is paused
headline-turn = It’s your turn
headline-inside = You are in
headline-away = Nobody can come in right now
headline-sold-out = Sold out
headline-session-over = Your visit has ended
headline-missed = You have lost your place
headline-busy = One moment, please
headline-no-room = There is no waiting room here

challenge = We are checking that this is a real browser. Yours does this by itself in a few seconds; there is nothing you have to do. Then you get your place in line.
challenge-widget = Please answer the check below. Then you get your place in line.
challenge-progress = Checking…
challenge-refused = The check did not succeed. Please load this page again.
challenge-scriptless = This check needs JavaScript, which is switched off here. You have no place in line yet. Please switch JavaScript on and load this page again, or use another browser.
paused = Nobody is being let in at the moment. You keep your place.
turn = You can go in now.
inside = You can go on now.
inside-go-back = Go back to the page you came from: you can go on there.
away = Please try again later.
away-kept = You keep your place. Please come back later.
sold-out = There is nothing left, so there is no need to wait any longer.
sold-out-kept = There is nothing left, so there is no need to wait any longer. You keep your place in case something becomes available again.
session-over = Your time inside is over. You are welcome to get back in line.
missed = You were away for too long. You are welcome to get back in line.
busy = A lot of people are arriving at once. This page tries again by itself; please keep it open.
no-room = This waiting room does not exist, or it has been closed. Check the address, or go back to the page you came from.

## Waits

wait-label = Expected wait
start-label = Until the start
wait-unknown = Not known yet
wait-moment = Less than a minute
wait-minutes = { $minutes ->
    [one] About { NUMBER($minutes) } minute
   *[other] About { NUMBER($minutes) } minutes
}
wait-over-hours = { $hours ->
    [one] More than an hour
   *[other] More than { NUMBER($hours) } hours
}
wait-over-day = More than a day
wait-between-minutes = { $to ->
    [one] Up to { NUMBER($to) } minute
   *[other] Between { NUMBER($from) } and { NUMBER($to) } minutes
}
wait-between-hours = { $to ->
    [one] Up to { NUMBER($to) } hour
   *[other] Between { NUMBER($from) } and { NUMBER($to) } hours
}
wait-up-to-hours = { $hours ->
    [one] Up to an hour
   *[other] Up to { NUMBER($hours) } hours
}
progress-label = Progress
progress = About { NUMBER($percent) }% of the wait is over

## Facts

position-label = Your place
ahead-label = People ahead of you
starts-label = Starts
ends-label = Ends
updated-label = Last updated

## What is good to know

note-order = Everyone goes in by order of arrival.
note-chance = Chance decides who goes in next, and it is the same for everyone at every moment. Reloading the page changes nothing.
note-early = You already have your place. Nobody goes in before the start.
note-draw = At the start, places are drawn by lot among everyone who is here. It does not matter who came first.
note-door = You are at the front of the line. It is your turn as soon as a place comes free.
notice-again = Your earlier place had run out, so you have a new one.
notice-full = Every place was taken a moment ago. Your turn is not lost: please try again shortly.
notice-late = The time for which your place was held is over. You may still get in if you enter now.
notice-stale = We cannot reach the line at the moment. This is what we last knew; your place is safe.
unreachable = We cannot reach the waiting room right now. Your place is safe, and this page keeps trying.
unreachable-no-place = We cannot reach the waiting room right now. This page keeps trying.
auto = This page updates by itself. There is no need to reload it.

## What to do

go-turn = Enter now
go-inside = Continue
go-again = Get back in line
hold-label = Your place is held for
hold-after = If you do not come by then, the next person gets it. You stay at the front of the line.
alert-turn = It’s your turn. You can go in now.
alert-missed = Your turn is over.
sound = Play a sound when it’s my turn
notify = Notify me when it’s my turn

## Closing the page

closing = What happens if I close this page?
closing-minutes = { $minutes ->
    [one] Your place is kept for { NUMBER($minutes) } minute. Come back in time with this same browser and you have not lost it.
   *[other] Your place is kept for { NUMBER($minutes) } minutes. Come back in time with this same browser and you have not lost it.
}
closing-seconds = { $seconds ->
    [one] Your place is kept for { NUMBER($seconds) } second. Come back in time with this same browser and you have not lost it.
   *[other] Your place is kept for { NUMBER($seconds) } seconds. Come back in time with this same browser and you have not lost it.
}
closing-kept = Your place is kept. Come back with this same browser and you have not lost it.
closing-turn = It is your turn now, and only for a while. Come back with this same browser before that time is over.
closing-over = Nothing: you have no place in line at the moment.

## The foot

language = Language
change-language = Change
room = Waiting room
