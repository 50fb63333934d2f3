-- Admissions of the last 60 seconds, in buckets of 100 ms: exact, never more than the limit in
-- any 60 seconds, and of a fixed size. A bucket that lies partly in the window counts whole.
-- Hash fields: bucket number -> admissions; tail, sum: the oldest bucket kept and the total;
-- paced_until: until when the even spread is used up, ms. No bucket is below the tail, even after the
-- clock went back.

local BUCKET_MS, BUCKETS = 100, 600
-- Evenly spread admissions that nobody used may be made up for within this time.
-- Agrees with PACE_BURST_SECONDS in the domain crate's slots.
local PACE_BURST_MS = 2000

-- Admissions in the 60 seconds up to `now`; forgets older ones.
local rate_used
do
  -- As `rate_used`, by a look at every bucket: after a pause, or after the clock was set.
  local function rate_counted(key, oldest)
    local state = redis.call('HGETALL', key)
    local sum = 0
    for i = 1, #state, 2 do
      local bucket = tonumber(state[i])
      if bucket and bucket >= oldest then
        sum = sum + state[i + 1]
      elseif bucket then
        redis.call('HDEL', key, state[i])
      end
    end
    -- It stays when it is empty: whoever only reads must not delete what is on the list of parts.
    if sum == 0 then redis.call('HDEL', key, 'paced_until') end
    redis.call('HSET', key, 'tail', oldest, 'sum', sum)
    return sum
  end

  rate_used = function(key, now)
    local oldest = math.floor(now / BUCKET_MS) - BUCKETS
    local state = redis.call('HMGET', key, 'tail', 'sum')
    local tail, sum = tonumber(state[1]), tonumber(state[2]) or 0
    if not tail or tail >= oldest then return sum end
    if oldest - tail > 2 * BUCKETS then return rate_counted(key, oldest) end
    local old = {}
    for bucket = tail, oldest - 1 do old[#old + 1] = string.format('%d', bucket) end
    for _, count in ipairs(redis.call('HMGET', key, unpack(old))) do
      sum = sum - (tonumber(count) or 0)
    end
    redis.call('HDEL', key, unpack(old))
    redis.call('HSET', key, 'tail', oldest, 'sum', sum)
    return sum
  end
end

-- With as many digits on every server, which write a float each in their own way.
local function set_pace(key, paced_until)
  redis.call('HSET', key, 'paced_until', string.format('%.3f', paced_until))
end

-- From when on admissions are spread. The next one comes no later than the present rate says: what a slower rate, or a
-- room that was open, had used up beyond that is given up. It is written, because a bound that moves with `now` would
-- never be reached.
local function paced_from(key, rate, now)
  local paced_until, latest = tonumber(redis.call('HGET', key, 'paced_until')) or 0, now + 60000 / rate
  if paced_until > latest then
    paced_until = latest
    set_pace(key, latest)
  end
  return math.max(paced_until, now - PACE_BURST_MS)
end

-- How many more may enter now if admissions are spread evenly, whatever the window has left.
local function spread_left(key, rate, now)
  local from = paced_from(key, rate, now)
  return from > now and 0 or math.floor((now - from) * rate / 60000) + 1
end

-- How many more the rate allows now: evenly spread while people wait, otherwise all that is left. `held`
-- admissions are kept for those who hold a seat.
local function rate_left(key, rate, now, waiting, held)
  if not rate then return math.huge end
  if rate == 0 then return 0 end
  local left = rate - rate_used(key, now) - held
  if not waiting then return math.max(left, 0) end
  if left <= 0 then
    -- Admissions that the window prevents are not made up for by a burst later.
    set_pace(key, math.max(now, paced_from(key, rate, now)))
    return 0
  end
  return math.max(math.min(left, spread_left(key, rate, now)), 0)
end

-- When the rate may let somebody in at the soonest, ms; nil: never.
local function rate_free_at(key, rate, now, waiting, held)
  if not rate then return now end
  if rate == 0 then return nil end
  if rate_used(key, now) + held >= rate then return (math.floor(now / BUCKET_MS) + 1) * BUCKET_MS end
  return waiting and math.max(math.ceil(paced_from(key, rate, now)), now) or now
end

-- Spreads `n` admissions evenly.
local function rate_pace(key, rate, now, n)
  if n > 0 and rate and rate > 0 then set_pace(key, paced_from(key, rate, now) + n * 60000 / rate) end
end

-- Counts `n` admissions.
local function rate_take(key, rate, now, waiting, n)
  if n == 0 then return end
  local bucket = math.floor(now / BUCKET_MS)
  local used = rate_used(key, now)
  local tail = tonumber(redis.call('HGET', key, 'tail'))
  if not tail or bucket < tail then redis.call('HSET', key, 'tail', bucket) end
  redis.call('HINCRBY', key, bucket, n)
  redis.call('HSET', key, 'sum', used + n)
  if waiting then rate_pace(key, rate, now, n) end
end

-- When the window lets the next one in, ms: 0 unless it is used up.
local function rate_resumes_at(key, rate, now)
  if not rate or rate == 0 or rate_used(key, now) < rate then return 0 end
  local oldest = math.floor(now / BUCKET_MS) - BUCKETS
  local names = {}
  for bucket = oldest, oldest + BUCKETS do names[#names + 1] = string.format('%d', bucket) end
  for i, count in ipairs(redis.call('HMGET', key, unpack(names))) do
    if tonumber(count) then return (oldest + i - 1 + BUCKETS + 1) * BUCKET_MS end
  end
  return 0
end
