--[[ lead: a controller asks for the leadership, renews it, or stops; and hears which term it is, and who serves rooms
in it.

A term belongs to one holder of the lease and to one list of members: whoever asked within a lease's length. The list
is made anew whenever the holder renews; another list is another term. The terms of a holder follow each other without
a break as long as this Redis and the holder agree on what was before.

KEYS  lease epoch length controllers term
ARGV  now_ms document
Returns {leads epoch before settled members}
      leads: the caller holds the lease. epoch: that of the term, for its holder and, once it is settled, for its
      members; else nil. before: that of the term that came directly before, with the same holder; nil: none.
      settled: the holder has made the keyspace whole. members: who serves rooms in the term.
Keeps an epoch belongs to one term of one holder, also where a split has two, and every term's is higher than all
      before it, also than those that Redis has forgotten; whoever is told of a term is told the same members; no lease
      lasts for longer than it was asked for, whatever the server's clock does.
]]
local args = arguments({
  instance = 'text',
  -- For how long; nil = it stops, and leaves at once.
  length_ms = 'integer',
  -- The highest epoch that the caller has seen.
  known_epoch = 'integer',
  -- The epoch of the last term in which it has made the keyspace whole, which nothing has undone since; nil: none.
  settled = 'integer',
})
local now = time_ms(ARGV[1])
-- Of so many epochs that follow each other a holder takes its own one. So the two sides of a split, which have different
-- holders, do not come to the same.
local STEP = 0x100000

-- The caller's next epoch above all these.
local function epoch_above(...)
  local own = tonumber(string.sub(redis.sha1hex(args.instance), 1, 5), 16)
  return (math.floor(math.max(...) / STEP) + 1) * STEP + own
end

local function read_term()
  local stored = redis.call('HMGET', keys.term, 'holder', 'epoch', 'before', 'since', 'settled', 'members')
  if not stored[1] then return nil end
  return { holder = stored[1], epoch = tonumber(stored[2]), before = tonumber(stored[3]), since = tonumber(stored[4]),
    settled = stored[5] == '1', members = stored[6] }
end

local function write_term(term)
  redis.call('HSET', keys.term, 'holder', term.holder, 'epoch', term.epoch, 'before', term.before or '',
    'since', term.since, 'settled', term.settled and 1 or 0, 'members', term.members)
  redis.call('PEXPIRE', keys.term, args.length_ms)
  redis.call('SET', keys.epoch, term.epoch)
end

-- Who asked lately, JSON, in order.
local function live_members()
  local members = redis.call('ZRANGE', keys.controllers, 0, -1)
  table.sort(members)
  return encode(members)
end

-- Notes that the caller asks. If the clock was set back, who asked before asked just now.
local function note_asking()
  redis.call('ZADD', keys.controllers, now, args.instance)
  for _, early in ipairs(redis.call('ZRANGEBYSCORE', keys.controllers, string.format('(%d', now), '+inf')) do
    redis.call('ZADD', keys.controllers, now, early)
  end
  redis.call('ZREMRANGEBYSCORE', keys.controllers, '-inf', string.format('%d', now - args.length_ms))
end

local function is_among(members)
  for _, name in ipairs(members) do
    if name == args.instance then return true end
  end
  return false
end

-- What another than the holder is told. A list that is not of the current holder's current term says nothing: a
-- release that knows no members may lead.
local function told_to_others(term, holder, epoch)
  if not term or not term.settled or term.holder ~= holder or term.epoch ~= epoch then return '{}' end
  local members = cjson.decode(term.members)
  if not is_among(members) then return '{}' end
  return encode({ epoch = epoch, before = term.before, settled = true, members = members })
end

-- The first of the holder's terms without a break.
local function first_term(term, epoch)
  epoch = epoch_above(epoch, args.known_epoch, term and term.epoch or 0)
  return { holder = args.instance, epoch = epoch, since = epoch, settled = false, members = live_members() }
end

-- The holder's next term, if others serve rooms now than in this one; else this one.
local function next_term(term)
  term.settled = args.settled ~= nil and args.settled >= term.since
  local members = live_members()
  if term.settled and members ~= term.members then
    term.before, term.epoch, term.members = term.epoch, epoch_above(term.epoch), members
  end
  return term
end

if not args.length_ms then
  redis.call('ZREM', keys.controllers, args.instance)
  give_back(args.instance)
  return '{}'
end
note_asking()
local holder, term = lease_holder(), read_term()
local epoch = tonumber(redis.call('GET', keys.epoch)) or 0
local is_held = holder == args.instance
if holder and not is_held then
  if args.known_epoch <= epoch then return told_to_others(term, holder, epoch) end
  -- Redis may have gone back, and rooms have seen later terms: the holder begins another one, above them.
  redis.call('SET', keys.epoch, args.known_epoch)
  return '{}'
end
take_lease(args.instance, args.length_ms)
local goes_on = is_held and term and term.holder == args.instance and term.epoch == epoch
  and args.known_epoch <= epoch
term = goes_on and next_term(term) or first_term(term, epoch)
write_term(term)
return encode({ leads = true, epoch = term.epoch, before = term.before, settled = term.settled,
  members = cjson.decode(term.members) })
