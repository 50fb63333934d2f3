### The words of the waiting page, in Chinese (simplified characters).

## What the state is

headline-challenge = 排队前请稍候
headline-waiting = 您正在排队
headline-early = 活动尚未开始
headline-paused = 队伍暂停前进
headline-turn = 轮到您了
headline-inside = 您已进入
headline-away = 目前无法进入
headline-sold-out = 已售罄
headline-session-over = 您的访问已结束
headline-missed = 您的位置已失效
headline-busy = 请稍候
headline-no-room = 此处没有等候室

challenge = 我们正在确认这是真实的浏览器。您的浏览器会在几秒钟内自动完成，您无需任何操作。之后您就会得到排队位置。
challenge-widget = 请完成下面的验证。之后您就会得到排队位置。
challenge-progress = 正在验证…
challenge-refused = 验证未成功。请重新加载此页面。
challenge-scriptless = 此验证需要 JavaScript，但这里已关闭。您还没有排队位置。请开启 JavaScript 并重新加载此页面，或使用其他浏览器。
paused = 目前暂停入场。您的位置会为您保留。
turn = 您现在可以进入。
inside = 您可以继续。
inside-go-back = 请返回您来时的页面，即可继续。
away = 请稍后再试。
away-kept = 您的位置会为您保留，请稍后再来。
sold-out = 已经没有剩余，无需继续等待。
sold-out-kept = 已经没有剩余，无需继续等待。如果之后又有空余，您的位置仍然保留。
session-over = 您的访问时间已到。欢迎重新排队。
missed = 您离开的时间过长。欢迎重新排队。
busy = 同时到达的人很多。本页面会自动重试，请保持打开。
no-room = 该等候室不存在或已关闭。请检查网址，或返回您来时的页面。

## Waits

wait-label = 预计等待时间
start-label = 距离开始
wait-unknown = 暂时未知
wait-moment = 不到 1 分钟
wait-minutes = { $minutes ->
   *[other] 约 { NUMBER($minutes) } 分钟
}
wait-over-hours = { $hours ->
   *[other] 超过 { NUMBER($hours) } 小时
}
wait-over-day = 超过一天
wait-between-minutes = { $to ->
   *[other] { NUMBER($from) } 到 { NUMBER($to) } 分钟
}
wait-between-hours = { $to ->
   *[other] { NUMBER($from) } 到 { NUMBER($to) } 小时
}
wait-up-to-hours = { $hours ->
   *[other] 最多 { NUMBER($hours) } 小时
}
progress-label = 进度
progress = 等待时间已过去约 { NUMBER($percent) }%

## Facts

position-label = 您的位置
ahead-label = 前面的人数
starts-label = 开始时间
ends-label = 结束时间
updated-label = 最近更新

## What is good to know

note-order = 所有人按到达的先后顺序进入。
note-chance = 由抽签决定下一位，每个人在任何时刻的机会都相同。刷新页面不会改变机会。
note-early = 您已经有了位置。开始之前任何人都不能进入。
note-draw = 开始时，所有在场的人将抽签决定位置，先来后到没有影响。
note-door = 您已排到队伍最前面。一有空位就轮到您。
notice-again = 您之前的位置已过期，现在为您分配了新的位置。
notice-full = 刚才已满员。您的机会没有失去，请稍后再试一次。
notice-late = 为您保留位置的时间已到。现在进入，也许还来得及。
notice-stale = 目前无法连接队伍。以上是最后一次获得的信息，您的位置仍然保留。
unreachable = 目前无法连接等候室。您的位置仍然保留，本页面会继续重试。
unreachable-no-place = 目前无法连接等候室。本页面会继续重试。
auto = 本页面会自动更新，无需刷新。

## What to do

go-turn = 立即进入
go-inside = 继续
go-again = 重新排队
hold-label = 您的位置还将保留
hold-after = 如果您未在此之前进入，位置将让给下一位。您仍排在队伍最前面。
alert-turn = 轮到您了，现在可以进入。
alert-missed = 您的入场时间已过。
sound = 轮到我时播放提示音
notify = 轮到我时通知我

## Closing the page

closing = 如果我关闭此页面会怎样？
closing-minutes = { $minutes ->
   *[other] 您的位置会保留 { NUMBER($minutes) } 分钟。在此期间用同一个浏览器回来，就不会失去位置。
}
closing-seconds = { $seconds ->
   *[other] 您的位置会保留 { NUMBER($seconds) } 秒。在此期间用同一个浏览器回来，就不会失去位置。
}
closing-kept = 您的位置会为您保留。用同一个浏览器回来，就不会失去位置。
closing-turn = 现在轮到您了，但时间有限。请在时间结束之前用同一个浏览器回来。
closing-over = 没有影响：您目前不在队伍中。

## The foot

language = 语言
change-language = 更改
room = 等候室
