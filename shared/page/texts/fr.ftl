### The words of the waiting page, in French.

## What the state is

headline-challenge = Un instant avant de rejoindre la file
headline-waiting = Vous êtes dans la file d’attente
headline-early = Vous êtes en avance
headline-paused = La file est en pause
headline-turn = C’est votre tour
headline-inside = Vous êtes entré
headline-away = Personne ne peut entrer pour l’instant
headline-sold-out = Complet
headline-session-over = Votre visite est terminée
headline-missed = Vous avez perdu votre place
headline-busy = Un instant, s’il vous plaît
headline-no-room = Il n’y a pas de salle d’attente ici

challenge = Nous vérifions qu’il s’agit d’un vrai navigateur. Le vôtre s’en charge tout seul en quelques secondes ; vous n’avez rien à faire. Vous recevrez ensuite votre place dans la file.
challenge-widget = Veuillez répondre à la vérification ci-dessous. Vous recevrez ensuite votre place dans la file.
challenge-progress = Vérification en cours…
challenge-refused = La vérification n’a pas abouti. Veuillez recharger cette page.
challenge-scriptless = Cette vérification a besoin de JavaScript, qui est désactivé ici. Vous n’avez pas encore de place dans la file. Veuillez activer JavaScript et recharger cette page, ou utiliser un autre navigateur.
paused = Personne n’entre en ce moment. Vous gardez votre place.
turn = Vous pouvez entrer maintenant.
inside = Vous pouvez continuer.
inside-go-back = Revenez à la page d’où vous venez : vous pourrez y continuer.
away = Veuillez réessayer plus tard.
away-kept = Vous gardez votre place. Revenez un peu plus tard.
sold-out = Il ne reste plus rien : il est inutile d’attendre plus longtemps.
sold-out-kept = Il ne reste plus rien : il est inutile d’attendre plus longtemps. Votre place est conservée au cas où quelque chose redeviendrait disponible.
session-over = Votre temps sur le site est écoulé. Vous pouvez reprendre place dans la file.
missed = Vous avez été absent trop longtemps. Vous pouvez reprendre place dans la file.
busy = Beaucoup de monde arrive en même temps. Cette page réessaie toute seule ; laissez-la ouverte.
no-room = Cette salle d’attente n’existe pas, ou elle a été fermée. Vérifiez l’adresse, ou revenez à la page d’où vous venez.

## Waits

wait-label = Attente estimée
start-label = Avant le début
wait-unknown = Pas encore connue
wait-moment = Moins d’une minute
wait-minutes = { $minutes ->
    [one] Environ { NUMBER($minutes) } minute
   *[other] Environ { NUMBER($minutes) } minutes
}
wait-over-hours = { $hours ->
    [one] Plus d’une heure
   *[other] Plus de { NUMBER($hours) } heures
}
wait-over-day = Plus d’un jour
wait-between-minutes = { $to ->
    [one] Jusqu’à { NUMBER($to) } minute
   *[other] Entre { NUMBER($from) } et { NUMBER($to) } minutes
}
wait-between-hours = { $to ->
    [one] Jusqu’à { NUMBER($to) } heure
   *[other] Entre { NUMBER($from) } et { NUMBER($to) } heures
}
wait-up-to-hours = { $hours ->
    [one] Jusqu’à une heure
   *[other] Jusqu’à { NUMBER($hours) } heures
}
progress-label = Progression
progress = Environ { NUMBER($percent) } % de l’attente est passée

## Facts

position-label = Votre place
ahead-label = Personnes devant vous
starts-label = Début
ends-label = Fin
updated-label = Dernière mise à jour

## What is good to know

note-order = Chacun entre dans l’ordre d’arrivée.
note-chance = C’est le hasard qui désigne les suivants, et les chances sont les mêmes pour tous à chaque instant. Recharger la page n’y change rien.
note-early = Vous avez déjà votre place. Personne n’entre avant le début.
note-draw = Au début, les places sont tirées au sort entre toutes les personnes présentes. Peu importe qui est arrivé en premier.
note-door = Vous êtes en tête de file. Ce sera votre tour dès qu’une place se libère.
notice-again = Votre ancienne place avait expiré : vous en avez une nouvelle.
notice-full = Toutes les places étaient prises à l’instant. Votre tour n’est pas perdu : réessayez dans un moment.
notice-late = Le délai pendant lequel votre place était gardée est écoulé. En entrant maintenant, vous pourrez peut-être encore passer.
notice-stale = La file est injoignable pour le moment. Voici les dernières informations connues ; votre place est conservée.
unreachable = La salle d’attente est injoignable pour le moment. Votre place est conservée, et cette page continue d’essayer.
unreachable-no-place = La salle d’attente est injoignable pour le moment. Cette page continue d’essayer.
auto = Cette page se met à jour toute seule. Inutile de la recharger.

## What to do

go-turn = Entrer maintenant
go-inside = Continuer
go-again = Reprendre place dans la file
hold-label = Votre place est gardée encore
hold-after = Sinon, elle revient à la personne suivante. Vous restez en tête de file.
alert-turn = C’est votre tour. Vous pouvez entrer maintenant.
alert-missed = Votre tour est passé.
sound = Jouer un son quand ce sera mon tour
notify = M’avertir quand ce sera mon tour

## Closing the page

closing = Que se passe-t-il si je ferme cette page ?
closing-minutes = { $minutes ->
    [one] Votre place est gardée pendant { NUMBER($minutes) } minute. Revenez à temps avec ce même navigateur et vous ne l’aurez pas perdue.
   *[other] Votre place est gardée pendant { NUMBER($minutes) } minutes. Revenez à temps avec ce même navigateur et vous ne l’aurez pas perdue.
}
closing-seconds = { $seconds ->
    [one] Votre place est gardée pendant { NUMBER($seconds) } seconde. Revenez à temps avec ce même navigateur et vous ne l’aurez pas perdue.
   *[other] Votre place est gardée pendant { NUMBER($seconds) } secondes. Revenez à temps avec ce même navigateur et vous ne l’aurez pas perdue.
}
closing-kept = Votre place est gardée. Revenez avec ce même navigateur et vous ne l’aurez pas perdue.
closing-turn = C’est votre tour, mais pour un temps limité. Revenez avec ce même navigateur avant la fin de ce délai.
closing-over = Rien : vous n’avez pas de place dans la file pour le moment.

## The foot

language = Langue
change-language = Changer
room = Salle d’attente
