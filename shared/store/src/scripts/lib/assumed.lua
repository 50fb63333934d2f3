-- Admissions of the last minute of which nobody knows, because somebody is silent who may have seen them. They count until
-- everybody has been heard. keys: line, rate. Needs lib/rate.lua.
-- In line: assumed: how many, and assumed_in: in which bucket; assumed_of, heard_of: how many sessions were known of then,
-- and are known of by those who have spoken since.

-- One name instead of three: Lua allows a script 200. ASSUMED.take(now, n, admitted): counts `n`, while `admitted` sessions
-- are known of. ASSUMED.hear(admitted): who was silent knows of so many. ASSUMED.give_back(now): all have spoken.
-- ASSUMED.unseen(): how many began that only those had seen who were silent.
local ASSUMED = {}

function ASSUMED.take(now, n, admitted)
  rate_take(keys.rate, nil, now, false, n)
  redis.call('HSET', keys.line, 'assumed', n, 'assumed_in', math.floor(now / BUCKET_MS), 'assumed_of', admitted,
    'heard_of', admitted)
end

function ASSUMED.hear(admitted)
  local heard = tonumber(redis.call('HGET', keys.line, 'heard_of')) or 0
  redis.call('HSET', keys.line, 'heard_of', math.max(heard, admitted))
end

function ASSUMED.unseen()
  local line = redis.call('HMGET', keys.line, 'assumed_of', 'heard_of')
  return math.max((line[2] or 0) - (line[1] or 0), 0)
end

function ASSUMED.give_back(now)
  local used = rate_used(keys.rate, now)
  local line = redis.call('HMGET', keys.line, 'assumed', 'assumed_in')
  local assumed, bucket = tonumber(line[1]) or 0, line[2]
  local counted = assumed > 0 and tonumber(redis.call('HGET', keys.rate, bucket)) or 0
  local n = math.min(assumed - ASSUMED.unseen(), counted)
  if n <= 0 then return end
  redis.call('HINCRBY', keys.rate, bucket, -n)
  redis.call('HSET', keys.rate, 'sum', used - n)
  redis.call('HSET', keys.line, 'assumed', 0)
end
