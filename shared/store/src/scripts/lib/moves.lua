-- Moves of the serving counter that are not the tick's: an operator's, or an inlet's. Needs lib/serving and lib/bitmaps.

-- Places above the counter wait again, also those whose time to claim was over: it begins anew once they are served.
local function revive(keys, line, target)
  local first, last = math.max(target, 0) + 1, line.expired_position
  if first > last then return end
  local revived = last - first + 1 - count_bits(keys.entered, first, last)
  local counted = math.max(line.expired - revived, 0)
  redis.call('HSET', keys.line, 'expired', counted)
  redis.call('HSET', keys.line, 'expired_position', first - 1)
end

-- Moves the counter by so much, forwards or back. A move that reaches a gap of numbers that nobody holds skips the gap.
local function move_serving(keys, line, by, now)
  -- Above 2^53 - 1, numbers in Lua and in clients' JSON are not exact.
  local MOST = 9007199254740991
  local target = line.serving_counter + by
  if line.gap_last > 0 and line.serving_counter < line.gap_first and target >= line.gap_first then
    target = target + line.gap_last - line.gap_first + 1
  end
  target = math.max(-MOST, math.min(MOST, target))
  if target > line.serving_counter then raise_serving(keys, line, target, now, 'o') end
  if target < line.serving_counter then
    lower_serving(keys, line, target, now)
    revive(keys, line, target)
  end
end
