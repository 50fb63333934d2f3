--[[ join: reserve queue numbers for a batch of newcomers of one region.

KEYS  line settings sessions records tokens entered rate rows grants traffic counts unattended there holds door asked calls networks
ARGV  now_ms seen call region count mode key_id issuer joins_per_minute places seats only_logs max_session_seconds | network
Returns  now_ms reset_epoch generation first seated suspended serving_counter issued_at expires_at admitted pool own anywhere lent limited outcomes beyond_joins beyond_places wait_s
      call: the name of the call: a second one of that name is answered as the first, however late either comes.
      mode: "enter" (take a seat at once if one is free) or "queue" (AWS-style: claim later).
      key_id and issuer are those of the tokens of who enters.
      joins_per_minute, places, seats: what each network may have ("" = no such limit); only_logs: whether
      that is only counted (0, 1). max_session_seconds: how long a session lasts at most ("" = no limit).
      network: the digest of each newcomer's; none where nothing is limited.
      limited: whether networks were counted;
      outcomes: of each newcomer its number counted from `first`, or -1, -2: turned away, for joins or
      places; none, if all have places in their order; beyond_joins, beyond_places: how many were beyond a limit, be
      they turned away or only counted; wait_s: when the first of those may come again.
      first: the first number; seated: how many have entered, counted from `first`; suspended:
      everyone enters uncounted; admitted: sessions so far; pool: index of the draw that they wait for
      (nil = none); own, anywhere, lent: how many seats used the region's own slots, slots open to all,
      and slots of other regions.
Keeps (1) numbers are handed out once, in order, and where no leader sees it, no more than another one leaves out; (2) seats and rate stay within their limits;
      (4) newcomers enter only if the counter has reached everyone before them, unless the room is
      open to all; newcomers enter while any region has a free slot; no network has more newcomers in a
      minute, places or seats than it may.
]]
-- A leader that has left this server leaves out so many numbers at least: `UNSEEN_NUMBERS` in the domain crate.
local MOST_UNTICKED = 100000
local count, enter = tonumber(args.count), args.mode == 'enter'
local line, settings = read_room(keys, now)
if not line then return no_room() end
local call = of_newcomers(args.call)
local before_this = answered_before(keys, call)
if before_this then
  -- The numbers are those of then; the counter is as it stands.
  local at = {}
  for i, field in ipairs(reply({ first = 'first', seated = 'seated', serving_counter = 'serving_counter' })) do
    if field then at[field] = i end
  end
  before_this[at.serving_counter] = line.serving_counter
  -- Nobody is told of a session that has ended since: whose has not finds it by its number.
  local numbers = {}
  for nth = 1, before_this[at.seated] do numbers[nth] = string.format('%d', before_this[at.first] + nth - 1) end
  local records = #numbers > 0 and redis.call('HMGET', keys.records, unpack(numbers)) or {}
  for _, record in ipairs(records) do
    if not record then before_this[at.seated] = 0 end
  end
  return seal(before_this)
end
local first_in_line = math.max(line.serving_counter, 0) >= line.queue_counter

-- Who may join, and how many of them may sit, if anybody can: those get the lower numbers. `outcomes` stays empty as long
-- as all have places in the order of the call.
local digests, outcomes, beyond, wait_s, sitting = { unpack(ARGV, FIRST_ITEM) }, {}, {}, 0, count
local limited = #digests > 0
if limited then
  NETWORKS.read(digests)
  local limits = { joins = tonumber(args.joins_per_minute), places = tonumber(args.places),
    only_logs = args.only_logs == '1' }
  local refused
  refused, beyond, wait_s = NETWORKS.let_join(digests, limits)
  local can_sit = enter and not settings.suspended and (first_in_line or settings.open)
  local seats = can_sit and not limits.only_logs and tonumber(args.seats) or nil
  if seats then NETWORKS.read_seats(digests) end
  local sitters, others, left = {}, {}, {}
  for i, digest in ipairs(digests) do
    if seats and not left[digest] then left[digest] = NETWORKS.seats_left(digest, seats, line) end
    if refused[i] then
      outcomes[i] = refused[i] == 'joins' and -1 or -2
    elseif seats and left[digest] <= 0 then
      others[#others + 1] = i
    else
      if seats then left[digest] = left[digest] - 1 end
      sitters[#sitters + 1] = i
    end
  end
  if #sitters < count then
    for nth, i in ipairs(sitters) do outcomes[i] = nth - 1 end
    for nth, i in ipairs(others) do outcomes[i] = #sitters + nth - 1 end
  end
  count, sitting = #sitters + #others, #sitters
end

-- What is answered about them, besides `told`.
local function answered(told)
  told.limited, told.outcomes, told.wait_s = limited, outcomes, wait_s
  told.beyond_joins, told.beyond_places = beyond.joins or 0, beyond.places or 0
  return seal(keep_answer(keys, call, reply(told)))
end
if count == 0 then
  return answered({
    now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation, first = line.queue_counter + 1,
    seated = 0, serving_counter = line.serving_counter, issued_at = 0, expires_at = 0,
    admitted = line.admitted, own = 0, anywhere = 0, lent = 0,
  })
end

-- This may be the side of a split that the leader has left. A leader of before these fields were writes another time.
local is_ticked = line.ticked_at > 0 and line.numbers_ticked_at == line.ticked_at
if is_ticked and line.queue_counter + count - line.numbers_ticked > MOST_UNTICKED then return crowded() end

keep_pool(keys.line, line, settings)
local pool = line.pool_first > 0 and line.pool_last == 0 and line.draw_count or nil
local before = line.queue_counter
local after = redis.call('HINCRBY', keys.line, 'queue_counter', count)
local minute = math.floor(now / 60000)
redis.call('HINCRBY', keys.traffic, minute .. '.r.' .. args.region, count)

-- Of AWS-style clients nobody knows whether they are there, unless they ask by their number.
if not enter then
  fill_bits(keys.unattended, before + 1, after)
  redis.call('HINCRBY', keys.line, 'aws_joined', count)
end
redis.call('HSET', keys.line, 'heard_at', now)

local iat = math.floor(now / 1000)
local most = tonumber(args.max_session_seconds)
local exp = iat + math.min(settings.session_duration_seconds, most or math.huge)
if settings.suspended then
  NETWORKS.write()
  return answered({
    now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation, first = before + 1,
    seated = 0, suspended = enter, serving_counter = line.serving_counter, issued_at = iat,
    expires_at = exp, admitted = line.admitted, own = 0, anywhere = 0, lent = 0,
  })
end

-- served: how many of the batch the serving counter has reached; it may be raised below.
local served = math.min(math.max(line.serving_counter - before, 0), count)
local limited = settings.total_active_users or settings.new_users_per_minute
local free = 0
local open = is_open(settings, line)
local waiting = first_in_line and have_some_asked(keys, now)
if open then
  free = count
elseif first_in_line and not is_held(settings, line) then
  free = math.min(seats_left(keys.sessions, settings, line, now),
    rate_left(keys.rate, settings.new_users_per_minute, now, waiting, held_rate(keys, settings, now)))
  -- Who stands at the door without a seat came before.
  if waiting then free = math.max(free - at_door(keys, now), 0) end
end
-- In an open room the counter moves only for visitors who enter now, not for AWS-style clients.
local moves = open and enter or limited and not open
if moves and first_in_line then
  -- Whoever was served just now may not have heard of it: more may come than were promised a seat. Who is at the
  -- door has been counted.
  local last = line.serving_counter
  local first = served_by(moves_lately(keys), line, now - WEB_PERIOD_MS) + 1
  local unheard = last + 1 - first
  if unheard > 0 and unheard <= MOST_COUNTED then
    unheard = unheard - count_bits(keys.entered, first, last) - redis.call('ZCOUNT', keys.door, first, last)
  end
  local promised = open and 0 or math.max(line.promised, unheard)
  local more = math.min(math.max(free - promised - served, 0), count - served)
  if more > 0 then
    served = served + more
    raise_serving(keys, line, before + served, now, 't', unheard == 0)
    if not enter then
      redis.call('HSET', keys.line, 'promised', line.promised + more)
    end
  end
end

-- Operators may have served these numbers before they were handed out. Their time to claim starts now.
local early = first_in_line and redis.call('ZRANGEBYSCORE', keys.rows, '(' .. before, after) or {}
for _, member in ipairs(early) do
  local row = row_of(member)
  if row.issued < now then
    redis.call('ZREM', keys.rows, member)
    add_row(keys, row.counter, row.issued, row.who, now)
  end
end

local seated, own, anywhere, lent = 0, 0, 0, 0
if enter then
  seated = math.min(open and count or math.min(served, free), sitting)
  local record = { iat = iat, exp = exp, status = 0, kind = 'v', kid = args.key_id, request_id = '',
    issuer = args.issuer }
  NOTES.write(record, most and iat, '', '')
  for number = before + 1, before + seated do seat(keys, number, number, record) end
  for i, digest in ipairs(digests) do
    local nth = outcomes[i] or i - 1
    if nth >= 0 and nth < seated then
      NETWORKS.leave_line(digest)
      if args.seats ~= '' then NETWORKS.take_seat(digest, before + 1 + nth, session_end(exp)) end
    end
  end
  if seated > 0 then
    rate_take(keys.rate, settings.new_users_per_minute, now, waiting, seated)
    redis.call('HINCRBY', keys.line, 'admitted', seated)
    -- Whom newcomers have passed is asked of clients of the AWS-style calls alone.
    if line.aws_joined > 0 then redis.call('HSET', keys.line, 'entered_upto', before + seated) end
    redis.call('HINCRBY', keys.traffic, minute .. '.a', seated)
    COUNTS.entered(keys.counts, now, { [0] = seated }, args.region)
    own, anywhere, lent = take_slots(keys.grants, args.region, seated)
  end
  -- Counted in the same call; otherwise the leader could take the newcomers for people who left. Who is served and may
  -- not sit, because its network has its seats, is not waited for: others would find those seats taken.
  local counted_in = pool and pool_name(pool) or LINE
  local kept_out = math.max(served - sitting, 0)
  if kept_out > 0 then redis.call('HINCRBY', keys.line, 'kept_out', kept_out) end
  count_newcomers(keys, counted_in, before + seated + 1, before + sitting, now)
  count_newcomers(keys, counted_in, before + sitting + kept_out + 1, after, now)
end
NETWORKS.write()
return answered({
  now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation, first = before + 1,
  seated = seated, serving_counter = line.serving_counter, issued_at = iat, expires_at = exp,
  admitted = line.admitted + seated, pool = pool, own = own, anywhere = anywhere, lent = lent,
})
