### The words of the waiting page, in Portuguese (as in Brazil).

## What the state is

headline-challenge = Um momento antes de entrar na fila
headline-waiting = Você está na fila
headline-early = Você chegou cedo
headline-paused = A fila está parada
headline-turn = É a sua vez
headline-inside = Você entrou
headline-away = Ninguém pode entrar agora
headline-sold-out = Esgotado
headline-session-over = Sua visita terminou
headline-missed = Você perdeu o seu lugar
headline-busy = Um momento, por favor
headline-no-room = Não há nenhuma sala de espera aqui

challenge = Estamos a verificar se este é um navegador real. O seu faz isso sozinho em poucos segundos; não precisa de fazer nada. Depois recebe o seu lugar na fila.
challenge-widget = Responda à verificação abaixo. Depois recebe o seu lugar na fila.
challenge-progress = A verificar…
challenge-refused = A verificação não foi concluída. Carregue esta página de novo.
challenge-scriptless = Esta verificação precisa de JavaScript, que está desligado aqui. Ainda não tem lugar na fila. Ligue o JavaScript e carregue esta página de novo, ou use outro navegador.
paused = No momento, ninguém está entrando. O seu lugar continua guardado.
turn = Você já pode entrar.
inside = Você já pode continuar.
inside-go-back = Volte à página de onde você veio: lá você pode continuar.
away = Tente de novo mais tarde.
away-kept = O seu lugar continua guardado. Volte mais tarde.
sold-out = Não resta mais nada, por isso não é preciso esperar mais.
sold-out-kept = Não resta mais nada, por isso não é preciso esperar mais. O seu lugar fica guardado, caso algo volte a ficar disponível.
session-over = O seu tempo lá dentro acabou. Você pode voltar para a fila.
missed = Você ficou fora por tempo demais. Você pode voltar para a fila.
busy = Muita gente está chegando ao mesmo tempo. Esta página tenta de novo sozinha; deixe-a aberta.
no-room = Esta sala de espera não existe ou foi fechada. Confira o endereço ou volte à página de onde você veio.

## Waits

wait-label = Espera prevista
start-label = Até o início
wait-unknown = Ainda não se sabe
wait-moment = Menos de um minuto
wait-minutes = { $minutes ->
    [one] Cerca de { NUMBER($minutes) } minuto
   *[other] Cerca de { NUMBER($minutes) } minutos
}
wait-over-hours = { $hours ->
    [one] Mais de uma hora
   *[other] Mais de { NUMBER($hours) } horas
}
wait-over-day = Mais de um dia
wait-between-minutes = { $to ->
    [one] Até { NUMBER($to) } minuto
   *[other] Entre { NUMBER($from) } e { NUMBER($to) } minutos
}
wait-between-hours = { $to ->
    [one] Até { NUMBER($to) } hora
   *[other] Entre { NUMBER($from) } e { NUMBER($to) } horas
}
wait-up-to-hours = { $hours ->
    [one] Até uma hora
   *[other] Até { NUMBER($hours) } horas
}
progress-label = Progresso
progress = Cerca de { NUMBER($percent) }% da espera já passou

## Facts

position-label = O seu lugar
ahead-label = Pessoas na sua frente
starts-label = Início
ends-label = Fim
updated-label = Última atualização

## What is good to know

note-order = Todos entram por ordem de chegada.
note-chance = A sorte decide quem entra em seguida, e a chance é sempre igual para todos. Recarregar a página não muda nada.
note-early = Você já tem o seu lugar. Ninguém entra antes do início.
note-draw = No início, os lugares são sorteados entre todos que estiverem aqui. Não importa quem chegou primeiro.
note-door = Você está no começo da fila. Será a sua vez assim que houver uma vaga.
notice-again = O seu lugar anterior tinha expirado, então você tem um novo.
notice-full = Há um instante não havia vaga. A sua vez não está perdida: tente de novo em um momento.
notice-late = O tempo em que guardamos o seu lugar acabou. Se entrar agora, talvez ainda consiga.
notice-stale = Não conseguimos falar com a fila agora. Isto é o que sabíamos por último; o seu lugar está seguro.
unreachable = No momento, não conseguimos acessar a sala de espera. O seu lugar está seguro, e esta página continua tentando.
unreachable-no-place = No momento, não conseguimos acessar a sala de espera. Esta página continua tentando.
auto = Esta página se atualiza sozinha. Não é preciso recarregar.

## What to do

go-turn = Entrar agora
go-inside = Continuar
go-again = Voltar para a fila
hold-label = Guardamos o seu lugar por mais
hold-after = Se você não entrar até lá, ele passa para a próxima pessoa. Você continua no começo da fila.
alert-turn = É a sua vez. Você já pode entrar.
alert-missed = A sua vez passou.
sound = Tocar um som quando for a minha vez
notify = Avisar quando for a minha vez

## Closing the page

closing = O que acontece se eu fechar esta página?
closing-minutes = { $minutes ->
    [one] O seu lugar fica guardado por { NUMBER($minutes) } minuto. Volte a tempo com este mesmo navegador e você não o terá perdido.
   *[other] O seu lugar fica guardado por { NUMBER($minutes) } minutos. Volte a tempo com este mesmo navegador e você não o terá perdido.
}
closing-seconds = { $seconds ->
    [one] O seu lugar fica guardado por { NUMBER($seconds) } segundo. Volte a tempo com este mesmo navegador e você não o terá perdido.
   *[other] O seu lugar fica guardado por { NUMBER($seconds) } segundos. Volte a tempo com este mesmo navegador e você não o terá perdido.
}
closing-kept = O seu lugar fica guardado. Volte com este mesmo navegador e você não o terá perdido.
closing-turn = Agora é a sua vez, mas só por um tempo. Volte com este mesmo navegador antes que esse tempo acabe.
closing-over = Nada: no momento você não tem um lugar na fila.

## The foot

language = Idioma
change-language = Mudar
room = Sala de espera
