-- The rooms that were deleted. keys.tombstones: room -> its reset epoch then. keys.burials: room -> the revision of its
-- burial, which is the time, ms, and rises. A release that knows no burials writes tombstones alone.

-- After so long nobody remembers a room who has not heard that it was deleted, ms.
local KEPT_MS = 31 * 86400000
-- So many are forgotten with one call, at most.
local MANY_BURIALS = 1000

local function last_revision()
  local newest = redis.call('ZRANGE', keys.burials, -1, -1, 'WITHSCORES')
  return tonumber(newest[2]) or 0
end

-- Notes that these rooms are buried now.
local function note_burials(rooms, now)
  local revision = last_revision()
  for _, room in ipairs(rooms) do
    revision = math.max(now, revision + 1)
    redis.call('ZADD', keys.burials, revision, room)
  end
end

local function forget_burials(now)
  local oldest = string.format('(%d', now - KEPT_MS)
  local rooms = redis.call('ZRANGEBYSCORE', keys.burials, '-inf', oldest, 'LIMIT', 0, MANY_BURIALS)
  if #rooms == 0 then return end
  redis.call('HDEL', keys.tombstones, unpack(rooms))
  redis.call('ZREM', keys.burials, unpack(rooms))
end
