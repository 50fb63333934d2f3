-- Moves of the serving counter that are not the tick's: an operator's, or an inlet's. Needs lib/serving, lib/bitmaps and
-- lib/gaps.

-- Places above the counter wait again, also those whose time to claim was over: it begins anew once they are served.
local function revive(keys, line, target)
  local first, last = math.max(target, 0) + 1, line.expired_position
  if first > last then return end
  local revived = last - first + 1 - count_bits(keys.entered, first, last) - GAPS.within(keys, line, first, last)
  local counted = math.max(line.expired - revived, 0)
  redis.call('HSET', keys.line, 'expired', counted)
  redis.call('HSET', keys.line, 'expired_position', first - 1)
end

-- Moves the counter by so much, forwards or back. Moved forwards, it skips numbers that nobody
-- holds: so many people are served.
local function move_serving(keys, line, by, now)
  -- Above 2^53 - 1, numbers in Lua and in clients' JSON are not exact.
  local MOST = 9007199254740991
  local target = line.serving_counter + by
  if by > 0 then target = GAPS.beyond(keys, line, target) end
  target = math.max(-MOST, math.min(MOST, target))
  if target > line.serving_counter then raise_serving(keys, line, target, now, 'o') end
  if target < line.serving_counter then
    lower_serving(keys, line, target, now)
    revive(keys, line, target)
  end
end
