--[[ position_expiry: how long a served position may still be claimed.

KEYS  line settings rows seatless
ARGV  now_ms seen document
Returns {outcome seconds_left}
      Outcomes: claimable, never (positions do not expire here), not_served, expired, foreign (id of
      before a reset); seconds_left only with the first.
]]
local args = arguments({
  reset_epoch = 'integer', position = 'integer',
  -- When its visitor came, unix s.
  entered_at = 'integer',
  -- For how long the caller has been able to claim for anybody; nil = always.
  able_ms = 'integer',
})
local line, settings = read_room(keys, now)
if not line then return no_room() end
if args.reset_epoch ~= line.reset_epoch then return answer({ outcome = 'foreign' }) end
if not settings.position_expiry_seconds then return answer({ outcome = 'never' }) end
if args.position > line.serving_counter then return answer({ outcome = 'not_served' }) end
local expiry = settings.position_expiry_seconds
-- As in `claim`: a place that has expired stays so, unless it has asked.
local is_over = args.position <= line.expired_position
local served = is_over and served_when_over(line) or serving_times(keys, line)(args.position, args.entered_at)
local late = math.min(math.floor(now / 1000) - able_since(keys, line, expiry, served, args.position),
  math.floor((args.able_ms or math.huge) / 1000))
if late > expiry then return answer({ outcome = 'expired' }) end
return answer({ outcome = 'claimable', seconds_left = expiry - late })
