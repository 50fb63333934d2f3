### The words of the waiting page, in Korean.

## What the state is

headline-challenge = 줄을 서기 전에 잠시만 기다려 주세요
headline-waiting = 순서를 기다리고 있습니다
headline-early = 아직 시작 전입니다
headline-paused = 대기열이 멈춰 있습니다
headline-turn = 차례가 되었습니다
headline-inside = 입장했습니다
headline-away = 지금은 입장할 수 없습니다
headline-sold-out = 매진되었습니다
headline-session-over = 이용 시간이 끝났습니다
headline-missed = 순서가 만료되었습니다
headline-busy = 잠시만 기다려 주세요
headline-no-room = 대기실을 찾을 수 없습니다

challenge = 실제 브라우저인지 확인하고 있습니다. 브라우저가 몇 초 안에 스스로 처리하므로 아무것도 하실 필요가 없습니다. 그다음 대기 순서를 받게 됩니다.
challenge-widget = 아래 확인을 완료해 주세요. 그다음 대기 순서를 받게 됩니다.
challenge-progress = 확인하는 중…
challenge-refused = 확인하지 못했습니다. 이 페이지를 다시 불러와 주세요.
challenge-scriptless = 이 확인에는 JavaScript가 필요하지만 여기서는 꺼져 있습니다. 아직 대기 순서가 없습니다. JavaScript를 켜고 이 페이지를 다시 불러오거나 다른 브라우저를 사용해 주세요.
paused = 지금은 아무도 입장하지 않습니다. 순서는 그대로 유지됩니다.
turn = 지금 입장할 수 있습니다.
inside = 계속 진행할 수 있습니다.
inside-go-back = 이전 페이지로 돌아가서 계속 진행해 주세요.
away = 나중에 다시 시도해 주세요.
away-kept = 순서는 그대로 유지됩니다. 나중에 다시 와 주세요.
sold-out = 남은 것이 없으므로 더 기다리지 않으셔도 됩니다.
sold-out-kept = 남은 것이 없으므로 더 기다리지 않으셔도 됩니다. 다시 자리가 생길 경우를 위해 순서는 그대로 유지됩니다.
session-over = 이용 시간이 끝났습니다. 다시 줄을 서실 수 있습니다.
missed = 너무 오래 자리를 비우셨습니다. 다시 줄을 서실 수 있습니다.
busy = 많은 분이 한꺼번에 접속하고 있습니다. 이 페이지는 자동으로 다시 시도하니 열어 두세요.
no-room = 이 대기실은 존재하지 않거나 종료되었습니다. 주소를 확인하거나 이전 페이지로 돌아가 주세요.

## Waits

wait-label = 예상 대기 시간
start-label = 시작까지
wait-unknown = 아직 알 수 없음
wait-moment = 1분 미만
wait-minutes = { $minutes ->
   *[other] 약 { NUMBER($minutes) }분
}
wait-over-hours = { $hours ->
   *[other] { NUMBER($hours) }시간 이상
}
wait-over-day = 하루 이상
wait-between-minutes = { $to ->
   *[other] { NUMBER($from) }~{ NUMBER($to) }분
}
wait-between-hours = { $to ->
   *[other] { NUMBER($from) }~{ NUMBER($to) }시간
}
wait-up-to-hours = { $hours ->
   *[other] 최대 { NUMBER($hours) }시간
}
progress-label = 진행 상황
progress = 대기 시간의 약 { NUMBER($percent) }%가 지났습니다

## Facts

position-label = 내 순서
ahead-label = 앞에 있는 사람
starts-label = 시작
ends-label = 종료
updated-label = 마지막 업데이트

## What is good to know

note-order = 도착한 순서대로 입장합니다.
note-chance = 다음에 입장할 사람은 추첨으로 정해지며, 확률은 언제나 모두에게 같습니다. 페이지를 새로 고쳐도 달라지지 않습니다.
note-early = 순서는 이미 확보되었습니다. 시작 전에는 아무도 입장하지 않습니다.
note-draw = 시작할 때 기다리고 있는 모든 사람의 순서를 추첨으로 정합니다. 먼저 왔는지는 상관없습니다.
note-door = 대기열 맨 앞에 있습니다. 빈자리가 나는 대로 차례가 됩니다.
notice-again = 이전 순서가 만료되어 새 순서를 받았습니다.
notice-full = 방금 빈자리가 없었습니다. 차례는 그대로이니 잠시 후 다시 시도해 주세요.
notice-late = 순서를 유지하는 시간이 지났습니다. 지금 입장하시면 아직 들어가실 수도 있습니다.
notice-stale = 지금은 대기열에 연결할 수 없습니다. 마지막으로 확인된 내용이며, 순서는 안전합니다.
unreachable = 지금은 대기실에 연결할 수 없습니다. 순서는 안전하며, 이 페이지가 계속 다시 시도합니다.
unreachable-no-place = 지금은 대기실에 연결할 수 없습니다. 이 페이지가 계속 다시 시도합니다.
auto = 이 페이지는 자동으로 업데이트됩니다. 새로 고칠 필요가 없습니다.

## What to do

go-turn = 지금 입장
go-inside = 계속
go-again = 다시 줄 서기
hold-label = 순서 유지 남은 시간
hold-after = 그때까지 들어가지 않으면 다음 사람에게 넘어갑니다. 대기열 맨 앞자리는 그대로 유지됩니다.
alert-turn = 차례가 되었습니다. 지금 입장할 수 있습니다.
alert-missed = 입장 시간이 지났습니다.
sound = 차례가 되면 소리로 알리기
notify = 차례가 되면 알림 받기

## Closing the page

closing = 이 페이지를 닫으면 어떻게 되나요?
closing-minutes = { $minutes ->
   *[other] 순서는 { NUMBER($minutes) }분 동안 유지됩니다. 그 안에 같은 브라우저로 돌아오시면 순서를 잃지 않습니다.
}
closing-seconds = { $seconds ->
   *[other] 순서는 { NUMBER($seconds) }초 동안 유지됩니다. 그 안에 같은 브라우저로 돌아오시면 순서를 잃지 않습니다.
}
closing-kept = 순서는 유지됩니다. 같은 브라우저로 돌아오시면 순서를 잃지 않습니다.
closing-turn = 지금 차례이지만 시간이 정해져 있습니다. 그 시간이 끝나기 전에 같은 브라우저로 돌아오세요.
closing-over = 아무 일도 일어나지 않습니다. 지금은 대기열에 순서가 없습니다.

## The foot

language = 언어
change-language = 변경
room = 대기실
