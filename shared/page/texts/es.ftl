### The words of the waiting page, in Spanish.

## What the state is

headline-challenge = Un momento antes de ponerse en la cola
headline-waiting = Estás en la fila
headline-early = Has llegado pronto
headline-paused = La fila está en pausa
headline-turn = Es tu turno
headline-inside = Ya estás dentro
headline-away = Ahora mismo no puede entrar nadie
headline-sold-out = Agotado
headline-session-over = Tu visita ha terminado
headline-missed = Has perdido tu lugar
headline-busy = Un momento, por favor
headline-no-room = Aquí no hay ninguna sala de espera

challenge = Estamos comprobando que se trata de un navegador real. El suyo lo hace solo en unos segundos; no tiene que hacer nada. Después recibirá su lugar en la cola.
challenge-widget = Responda a la comprobación de abajo. Después recibirá su lugar en la cola.
challenge-progress = Comprobando…
challenge-refused = La comprobación no se ha superado. Vuelva a cargar esta página.
challenge-scriptless = Esta comprobación necesita JavaScript, que aquí está desactivado. Todavía no tiene lugar en la cola. Active JavaScript y vuelva a cargar esta página, o use otro navegador.
paused = En este momento no entra nadie. Conservas tu lugar.
turn = Ya puedes entrar.
inside = Ya puedes continuar.
inside-go-back = Vuelve a la página de la que vienes: allí puedes continuar.
away = Inténtalo de nuevo más tarde.
away-kept = Conservas tu lugar. Vuelve más tarde.
sold-out = Ya no queda nada, así que no hace falta seguir esperando.
sold-out-kept = Ya no queda nada, así que no hace falta seguir esperando. Conservas tu lugar por si vuelve a haber algo disponible.
session-over = Tu tiempo dentro ha terminado. Puedes volver a ponerte en la fila.
missed = Has estado fuera demasiado tiempo. Puedes volver a ponerte en la fila.
busy = Está llegando mucha gente a la vez. Esta página vuelve a intentarlo sola; déjala abierta.
no-room = Esta sala de espera no existe o se ha cerrado. Comprueba la dirección o vuelve a la página de la que vienes.

## Waits

wait-label = Espera estimada
start-label = Hasta el comienzo
wait-unknown = Aún no se sabe
wait-moment = Menos de un minuto
wait-minutes = { $minutes ->
    [one] Alrededor de { NUMBER($minutes) } minuto
   *[other] Unos { NUMBER($minutes) } minutos
}
wait-over-hours = { $hours ->
    [one] Más de una hora
   *[other] Más de { NUMBER($hours) } horas
}
wait-over-day = Más de un día
wait-between-minutes = { $to ->
    [one] Hasta { NUMBER($to) } minuto
   *[other] Entre { NUMBER($from) } y { NUMBER($to) } minutos
}
wait-between-hours = { $to ->
    [one] Hasta { NUMBER($to) } hora
   *[other] Entre { NUMBER($from) } y { NUMBER($to) } horas
}
wait-up-to-hours = { $hours ->
    [one] Hasta una hora
   *[other] Hasta { NUMBER($hours) } horas
}
progress-label = Progreso
progress = Ha pasado alrededor del { NUMBER($percent) } % de la espera

## Facts

position-label = Tu lugar
ahead-label = Personas delante de ti
starts-label = Comienzo
ends-label = Final
updated-label = Última actualización

## What is good to know

note-order = Todas las personas entran por orden de llegada.
note-chance = El azar decide quién entra después, y en cada momento la probabilidad es la misma para todas las personas. Recargar la página no cambia nada.
note-early = Ya tienes tu lugar. Nadie entra antes del comienzo.
note-draw = Al comienzo, los lugares se sortean entre todas las personas presentes. No importa quién llegó primero.
note-door = Estás al principio de la fila. Será tu turno en cuanto quede un sitio libre.
notice-again = Tu lugar anterior había caducado, así que tienes uno nuevo.
notice-full = Hace un momento no quedaba sitio. No has perdido tu turno: inténtalo de nuevo enseguida.
notice-late = Ha terminado el tiempo durante el que te guardábamos el lugar. Si entras ahora, quizá todavía puedas pasar.
notice-stale = Ahora mismo no podemos conectar con la fila. Esto es lo último que sabemos; tu lugar está a salvo.
unreachable = Ahora mismo no podemos conectar con la sala de espera. Tu lugar está a salvo y esta página sigue intentándolo.
unreachable-no-place = Ahora mismo no podemos conectar con la sala de espera. Esta página sigue intentándolo.
auto = Esta página se actualiza sola. No hace falta recargarla.

## What to do

go-turn = Entrar ahora
go-inside = Continuar
go-again = Volver a la fila
hold-label = Te guardamos el lugar durante
hold-after = Si no entras antes, pasará a la siguiente persona. Seguirás al principio de la fila.
alert-turn = Es tu turno. Ya puedes entrar.
alert-missed = Tu turno ha pasado.
sound = Reproducir un sonido cuando sea mi turno
notify = Avisarme cuando sea mi turno

## Closing the page

closing = ¿Qué pasa si cierro esta página?
closing-minutes = { $minutes ->
    [one] Guardamos tu lugar durante { NUMBER($minutes) } minuto. Si vuelves a tiempo con este mismo navegador, no lo habrás perdido.
   *[other] Guardamos tu lugar durante { NUMBER($minutes) } minutos. Si vuelves a tiempo con este mismo navegador, no lo habrás perdido.
}
closing-seconds = { $seconds ->
    [one] Guardamos tu lugar durante { NUMBER($seconds) } segundo. Si vuelves a tiempo con este mismo navegador, no lo habrás perdido.
   *[other] Guardamos tu lugar durante { NUMBER($seconds) } segundos. Si vuelves a tiempo con este mismo navegador, no lo habrás perdido.
}
closing-kept = Guardamos tu lugar. Si vuelves con este mismo navegador, no lo habrás perdido.
closing-turn = Ahora es tu turno, pero solo por un rato. Vuelve con este mismo navegador antes de que se acabe ese tiempo.
closing-over = Nada: ahora mismo no tienes un lugar en la fila.

## The foot

language = Idioma
change-language = Cambiar
room = Sala de espera
