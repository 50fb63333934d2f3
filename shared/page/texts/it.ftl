### The words of the waiting page, in Italian.

## What the state is

headline-challenge = Un momento prima di mettersi in fila
headline-waiting = Sei in coda
headline-early = Sei in anticipo
headline-paused = La coda è ferma
headline-turn = È il tuo turno
headline-inside = Sei dentro
headline-away = Al momento non può entrare nessuno
headline-sold-out = Tutto esaurito
headline-session-over = La tua visita è terminata
headline-missed = Hai perso il tuo posto
headline-busy = Un momento, per favore
headline-no-room = Qui non c’è nessuna sala d’attesa

challenge = Stiamo verificando che questo sia un vero browser. Il suo lo fa da solo in pochi secondi; non deve fare nulla. Poi riceverà il suo posto in fila.
challenge-widget = Risponda alla verifica qui sotto. Poi riceverà il suo posto in fila.
challenge-progress = Verifica in corso…
challenge-refused = La verifica non è riuscita. Ricarichi questa pagina.
challenge-scriptless = Questa verifica richiede JavaScript, che qui è disattivato. Non ha ancora un posto in fila. Attivi JavaScript e ricarichi questa pagina, oppure usi un altro browser.
paused = Al momento non entra nessuno. Il tuo posto resta tuo.
turn = Ora puoi entrare.
inside = Ora puoi continuare.
inside-go-back = Torna alla pagina da cui sei arrivato: lì puoi continuare.
away = Riprova più tardi.
away-kept = Il tuo posto resta tuo. Torna più tardi.
sold-out = Non è rimasto più nulla: non serve aspettare oltre.
sold-out-kept = Non è rimasto più nulla: non serve aspettare oltre. Il tuo posto resta tuo, nel caso in cui qualcosa torni disponibile.
session-over = Il tuo tempo all’interno è finito. Puoi rimetterti in coda.
missed = Sei stato via troppo a lungo. Puoi rimetterti in coda.
busy = Stanno arrivando moltissime persone insieme. Questa pagina riprova da sola; lasciala aperta.
no-room = Questa sala d’attesa non esiste o è stata chiusa. Controlla l’indirizzo o torna alla pagina da cui sei arrivato.

## Waits

wait-label = Attesa prevista
start-label = All’inizio mancano
wait-unknown = Non ancora nota
wait-moment = Meno di un minuto
wait-minutes = { $minutes ->
    [one] Circa { NUMBER($minutes) } minuto
   *[other] Circa { NUMBER($minutes) } minuti
}
wait-over-hours = { $hours ->
    [one] Più di un’ora
   *[other] Più di { NUMBER($hours) } ore
}
wait-over-day = Più di un giorno
wait-between-minutes = { $to ->
    [one] Fino a { NUMBER($to) } minuto
   *[other] Tra { NUMBER($from) } e { NUMBER($to) } minuti
}
wait-between-hours = { $to ->
    [one] Fino a { NUMBER($to) } ora
   *[other] Tra { NUMBER($from) } e { NUMBER($to) } ore
}
wait-up-to-hours = { $hours ->
    [one] Fino a un’ora
   *[other] Fino a { NUMBER($hours) } ore
}
progress-label = Avanzamento
progress = È passato circa il { NUMBER($percent) }% dell’attesa

## Facts

position-label = Il tuo posto
ahead-label = Persone davanti a te
starts-label = Inizio
ends-label = Fine
updated-label = Ultimo aggiornamento

## What is good to know

note-order = Si entra in ordine di arrivo.
note-chance = È il caso a decidere chi entra dopo, e la probabilità è in ogni momento uguale per tutti. Ricaricare la pagina non cambia nulla.
note-early = Hai già il tuo posto. Nessuno entra prima dell’inizio.
note-draw = All’inizio i posti vengono sorteggiati fra tutti i presenti. Non conta chi è arrivato prima.
note-door = Sei in testa alla coda. Sarà il tuo turno appena si libera un posto.
notice-again = Il tuo posto precedente era scaduto, quindi ne hai uno nuovo.
notice-full = Un attimo fa era tutto occupato. Il tuo turno non è perso: riprova fra un momento.
notice-late = Il tempo per cui il tuo posto era riservato è finito. Se entri ora, forse fai ancora in tempo.
notice-stale = Al momento la coda non è raggiungibile. Queste sono le ultime notizie che abbiamo; il tuo posto è al sicuro.
unreachable = Al momento non riusciamo a raggiungere la sala d’attesa. Il tuo posto è al sicuro e questa pagina continua a provare.
unreachable-no-place = Al momento non riusciamo a raggiungere la sala d’attesa. Questa pagina continua a provare.
auto = Questa pagina si aggiorna da sola. Non serve ricaricarla.

## What to do

go-turn = Entra ora
go-inside = Continua
go-again = Torna in coda
hold-label = Il tuo posto è riservato ancora per
hold-after = Se non entri prima, passerà alla persona successiva. Tu resti in testa alla coda.
alert-turn = È il tuo turno. Ora puoi entrare.
alert-missed = Il tuo turno è passato.
sound = Riproduci un suono quando è il mio turno
notify = Avvisami quando è il mio turno

## Closing the page

closing = Che cosa succede se chiudo questa pagina?
closing-minutes = { $minutes ->
    [one] Il tuo posto resta riservato per { NUMBER($minutes) } minuto. Se torni in tempo con questo stesso browser, non l’hai perso.
   *[other] Il tuo posto resta riservato per { NUMBER($minutes) } minuti. Se torni in tempo con questo stesso browser, non l’hai perso.
}
closing-seconds = { $seconds ->
    [one] Il tuo posto resta riservato per { NUMBER($seconds) } secondo. Se torni in tempo con questo stesso browser, non l’hai perso.
   *[other] Il tuo posto resta riservato per { NUMBER($seconds) } secondi. Se torni in tempo con questo stesso browser, non l’hai perso.
}
closing-kept = Il tuo posto resta riservato. Se torni con questo stesso browser, non l’hai perso.
closing-turn = Ora è il tuo turno, ma solo per un po’. Torna con questo stesso browser prima che il tempo finisca.
closing-over = Niente: al momento non hai un posto in coda.

## The foot

language = Lingua
change-language = Cambia
room = Sala d’attesa
