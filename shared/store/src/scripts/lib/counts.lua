-- What is counted in the minute under way, for the history: fields `minute.figure` and `minute.figure.region` of one
-- hash, of which roll_up makes rows. The figures are those of the domain's `ledger`.

local COUNTS = {}
do
  -- The place of each reason in `LeftAs`.
  local LEFT = { completed = 0, abandoned = 1, revoked = 2, session_expired = 3, place_given_up = 4, place_revoked = 5,
    turn_missed = 6, reset = 7 }
  -- `WAIT_BOUNDS`: the longest wait of each bucket, s.
  local WAIT_BOUNDS = { 0, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200 }
  local DIGITS = '0123456789abc'

  local function field(now, figure, region)
    local name = string.format('%d.%s', math.floor(now / 60000), figure)
    return region and region ~= '' and name .. '.' .. region or name
  end

  local function add(key, now, figure, region, by)
    if by > 0 then redis.call('HINCRBY', key, field(now, figure, region), by) end
  end

  -- So many people left for a reason.
  COUNTS.left = function(key, now, reason, by, region) add(key, now, 'l' .. LEFT[reason], region, by) end

  -- They entered: how long each waited, s -> how many.
  COUNTS.entered = function(key, now, waits, region)
    local buckets = {}
    for seconds, count in pairs(waits) do
      local bucket = 1
      while WAIT_BOUNDS[bucket] and WAIT_BOUNDS[bucket] < seconds do bucket = bucket + 1 end
      buckets[bucket] = (buckets[bucket] or 0) + count
    end
    for bucket = 1, #WAIT_BOUNDS + 1 do
      if buckets[bucket] then
        add(key, now, 'w' .. string.sub(DIGITS, bucket, bucket), region, buckets[bucket])
      end
    end
  end

  -- There are so many: `q0` wait, `i0` are inside.
  COUNTS.level = function(key, now, figure, level)
    if level <= 0 then return end
    local name = field(now, figure)
    local known = tonumber(redis.call('HGET', key, name) or nil) or 0
    if level > known then redis.call('HSET', key, name, level) end
  end
end
