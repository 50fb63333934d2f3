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

-- Takes in what is not noted as buried.
local function tell_all()
  local entries = redis.call('HGETALL', keys.tombstones)
  local buried, unnoted = {}, {}
  for i = 1, #entries, 2 do
    buried[#buried + 1] = { entries[i], tonumber(entries[i + 1]) }
    if not redis.call('ZSCORE', keys.burials, entries[i]) then unnoted[#unnoted + 1] = entries[i] end
  end
  -- In one order on every server.
  table.sort(unnoted)
  note_burials(unnoted, now)
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
