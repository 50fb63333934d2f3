### The words of the waiting page, in Japanese.

## What the state is

headline-challenge = 並ぶ前に少しお待ちください
headline-waiting = 順番をお待ちください
headline-early = 開始までお待ちください
headline-paused = 現在、入場を停止しています
headline-turn = あなたの順番です
headline-inside = ご入場いただけます
headline-away = 現在、ご入場いただけません
headline-sold-out = 完売しました
headline-session-over = ご利用時間が終了しました
headline-missed = 順番が無効になりました
headline-busy = 少々お待ちください
headline-no-room = 待合室が見つかりません

challenge = 実際のブラウザーかどうかを確認しています。お使いのブラウザーが数秒で自動的に行いますので、操作は必要ありません。その後、順番をお取りします。
challenge-widget = 下の確認にお答えください。その後、順番をお取りします。
challenge-progress = 確認しています…
challenge-refused = 確認できませんでした。このページをもう一度読み込んでください。
challenge-scriptless = この確認には JavaScript が必要ですが、オフになっています。まだ順番は取れていません。JavaScript をオンにしてこのページをもう一度読み込むか、別のブラウザーをお使いください。
paused = 現在はどなたもご入場いただけません。あなたの順番は保持されています。
turn = 今すぐご入場いただけます。
inside = このままお進みください。
inside-go-back = 元のページに戻って、そのままお進みください。
away = しばらくしてからもう一度お試しください。
away-kept = あなたの順番は保持されています。後ほどもう一度お越しください。
sold-out = もう残りはありません。これ以上お待ちいただく必要はありません。
sold-out-kept = もう残りはありません。これ以上お待ちいただく必要はありません。再び空きが出た場合に備えて、順番はそのまま保たれます。
session-over = ご利用時間が終わりました。もう一度お並びいただけます。
missed = 長い間アクセスがありませんでした。もう一度お並びいただけます。
busy = 一度に多くの方がアクセスしています。このページは自動的に再試行します。開いたままお待ちください。
no-room = この待合室は存在しないか、終了しました。アドレスをご確認いただくか、元のページにお戻りください。

## Waits

wait-label = 待ち時間の目安
start-label = 開始まで
wait-unknown = まだわかりません
wait-moment = 1分未満
wait-minutes = { $minutes ->
   *[other] 約{ NUMBER($minutes) }分
}
wait-over-hours = { $hours ->
   *[other] { NUMBER($hours) }時間以上
}
wait-over-day = 1日以上
wait-between-minutes = { $to ->
   *[other] { NUMBER($from) }～{ NUMBER($to) }分
}
wait-between-hours = { $to ->
   *[other] { NUMBER($from) }～{ NUMBER($to) }時間
}
wait-up-to-hours = { $hours ->
   *[other] 最長{ NUMBER($hours) }時間
}
progress-label = 進み具合
progress = 待ち時間の約{ NUMBER($percent) }%が経過しました

## Facts

position-label = あなたの順番
ahead-label = 前にお待ちの人数
starts-label = 開始
ends-label = 終了
updated-label = 最終更新

## What is good to know

note-order = 先着順にご入場いただきます。
note-chance = 次に入場する方は抽選で決まります。当たる確率は常に全員同じで、ページを再読み込みしても変わりません。
note-early = あなたの順番はすでに確保されています。開始前にはどなたも入場できません。
note-draw = 開始時に、お待ちの方全員の順番を抽選で決めます。先に来たかどうかは関係ありません。
note-door = 列の先頭にいます。空きが出しだい、あなたの順番になります。
notice-again = 前の順番の期限が切れたため、新しい順番になりました。
notice-full = ただいま満員でした。順番は失われていませんので、少ししてからもう一度お試しください。
notice-late = 順番を保持できる時間が過ぎました。今すぐ入場すれば、まだ間に合うかもしれません。
notice-stale = 現在、順番の情報を取得できません。これは最後に確認できた内容です。あなたの順番は保持されています。
unreachable = 現在、待合室に接続できません。あなたの順番は保持されています。このページは自動的に再試行します。
unreachable-no-place = 現在、待合室に接続できません。このページは自動的に再試行します。
auto = このページは自動的に更新されます。再読み込みの必要はありません。

## What to do

go-turn = 入場する
go-inside = 進む
go-again = もう一度並ぶ
hold-label = 順番の保持時間：残り
hold-after = 時間内にお入りにならない場合は、次の方の順番になります。列の先頭にはそのまま残れます。
alert-turn = あなたの順番です。今すぐご入場いただけます。
alert-missed = 入場できる時間が過ぎました。
sound = 順番が来たら音で知らせる
notify = 順番が来たら通知する

## Closing the page

closing = このページを閉じるとどうなりますか？
closing-minutes = { $minutes ->
   *[other] あなたの順番は{ NUMBER($minutes) }分間保持されます。その間に同じブラウザーで戻れば、順番は失われません。
}
closing-seconds = { $seconds ->
   *[other] あなたの順番は{ NUMBER($seconds) }秒間保持されます。その間に同じブラウザーで戻れば、順番は失われません。
}
closing-kept = あなたの順番は保持されます。同じブラウザーで戻れば、順番は失われません。
closing-turn = 今があなたの順番ですが、時間に限りがあります。時間内に同じブラウザーでお戻りください。
closing-over = 何も起こりません。現在、あなたは列に並んでいません。

## The foot

language = 言語
change-language = 変更
room = 待合室
