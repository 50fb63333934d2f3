--[[ take_burials: the rooms that were deleted since the caller asked last.

KEYS  tombstones burials
ARGV  now_ms document
Returns {revision, buried}
      revision: of the last burial; 0 = there was none. buried: of each room its name and its reset epoch then.
Keeps whoever asks for all is told what releases have left that know no burials, too, and others are told from then on.
]]
local args = arguments({
  -- The revision that was told last; nil = all. It is above all burials: Redis has gone back, and all are told.
  revision = 'integer',
})
local now = time_ms(ARGV[1])
-- So many are looked up with one call.
local AT_ONCE = 1000

-- Those of `rooms` that are not noted as buried, in one order on every server.
local function unnoted(rooms)
  local found = {}
  for first = 1, #rooms, AT_ONCE do
    local some = { unpack(rooms, first, math.min(first + AT_ONCE - 1, #rooms)) }
    for i, noted in ipairs(redis.call('ZMSCORE', keys.burials, unpack(some))) do
      if not noted then found[#found + 1] = some[i] end
    end
  end
  table.sort(found)
  return found
end

-- Takes in what is not noted as buried.
local function tell_all()
  local entries = redis.call('HGETALL', keys.tombstones)
  local buried, rooms = {}, {}
  for i = 1, #entries, 2 do
    rooms[#rooms + 1] = entries[i]
    buried[#buried + 1] = { entries[i], tonumber(entries[i + 1]) }
  end
  if redis.call('ZCARD', keys.burials) ~= #rooms then note_burials(unnoted(rooms), now) end
  return buried
end

local function tell_since(revision)
  local rooms = redis.call('ZRANGEBYSCORE', keys.burials, string.format('(%d', revision), '+inf')
  local buried = {}
  if #rooms == 0 then return buried end
  for i, epoch in ipairs(redis.call('HMGET', keys.tombstones, unpack(rooms))) do
    if epoch then buried[#buried + 1] = { rooms[i], tonumber(epoch) } end
  end
  return buried
end

forget_burials(now)
local is_new = not args.revision or args.revision > last_revision()
local buried = is_new and tell_all() or tell_since(args.revision)
return encode({ revision = last_revision(), buried = buried })
