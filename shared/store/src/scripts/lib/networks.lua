-- Limits per network: how many newcomers of it come in a minute, how many places in line it has, and how many seats.
-- A network is known by a digest; nobody can tell its addresses from it.
-- networks:<reset epoch>:<period>: digest -> what it took lately, as `j<time>:<count>` for newcomers and `p<time>:<count>`
-- for places, by when they came. What nothing is added to for a period is forgotten.
-- networks:<reset epoch>:seats:<digest>: number -> until when its session was known to last, ms.

-- One name instead of many: Lua allows a script 200.
-- NETWORKS.read(digests): to be called once, before what follows. NETWORKS.let_join(digests, limits): who of these
-- newcomers, in this order, may join. NETWORKS.leave_line(digest): one of its places is used or given back.
-- NETWORKS.write(): at the end. NETWORKS.leave_line_now(list): all of that for these, which have a `network` or none.
-- NETWORKS.read_seats(digests): of many in one call, before NETWORKS.seats_left(digest, limit, line) of each.
-- NETWORKS.take_seat(digest, number, until_ms). NETWORKS.is_full(claim, line).
local NETWORKS = {}
do
  -- Newcomers of any minute, by steps of ten seconds; places of the last hour, by steps of ten minutes. The step that
  -- lies partly in that time counts whole, so nobody has more than the limit in any minute, or hour.
  local SPANS = { j = { step = 10000, steps = 6 }, p = { step = 600000, steps = 6 } }
  local PERIOD_MS = 4200000
  -- So many networks are counted one by one. Further ones share so many counts: memory is bounded, and of a crowd from so
  -- many networks each has few.
  local MOST, SHARED_DIGITS = 131072, 5
  -- How many there are in the period, beside them.
  local COUNT = '#'
  -- A seat is nobody's that no session has held for so long since the last one of its network was given, s.
  local SEATS_KEPT_S = 21600
  -- So many of a network's seats are looked at in one call.
  local MOST_LOOKED_AT = 512

  local known, seats = {}, {}
  -- As texts, for those who took nothing but one step's: in a crowd that is nearly every network.
  local ONE = 'j%d:%d p%d:%d'

  local function key_of(what) return string.format('%s:%d:%s', keys.networks, stamp.reset_epoch, what) end
  local function period(ago) return key_of(string.format('%d', math.floor(now / PERIOD_MS) - ago)) end

  local function parsed(text)
    local took = { j = {}, p = {} }
    if not text then return took end
    for what, time, count in string.gmatch(text, '(%a)(%d+):(%d+)') do
      local span = SPANS[what]
      time = tonumber(time)
      if span and time >= math.floor(now / span.step) - span.steps then took[what][time] = tonumber(count) end
    end
    return took
  end

  local function as_text(took)
    local joined, placed = next(took.j), next(took.p)
    if joined and placed and not next(took.j, joined) and not next(took.p, placed) and took.p[placed] > 0 then
      return string.format(ONE, joined, took.j[joined], placed, took.p[placed])
    end
    local parts = {}
    for what in pairs(SPANS) do
      for time, count in pairs(took[what]) do
        if count > 0 then parts[#parts + 1] = string.format('%s%d:%d', what, time, count) end
      end
    end
    table.sort(parts)
    return table.concat(parts, ' ')
  end

  local function sum(counts)
    local total = 0
    for _, count in pairs(counts) do total = total + count end
    return total
  end

  local function add(took, what)
    local time = math.floor(now / SPANS[what].step)
    took[what][time] = (took[what][time] or 0) + 1
    took.is_changed = true
  end

  -- The oldest is given back: whoever came first enters first.
  local function take_back(took, what)
    local oldest
    for time, count in pairs(took[what]) do
      if count > 0 and (not oldest or time < oldest) then oldest = time end
    end
    if oldest then took[what][oldest], took.is_changed = took[what][oldest] - 1, true end
  end

  -- What is kept of these, which are not known yet.
  local function read_all(digests)
    local now_of = redis.call('HMGET', period(0), COUNT, unpack(digests))
    local is_full = (tonumber(table.remove(now_of, 1)) or 0) >= MOST
    local before = redis.call('HMGET', period(1), unpack(digests))
    local shared = {}
    for i, digest in ipairs(digests) do
      local text = now_of[i] or before[i]
      if is_full and not text and #digest > SHARED_DIGITS then
        shared[#shared + 1] = digest
      else
        known[digest] = parsed(text)
        known[digest].name, known[digest].is_new = digest, not now_of[i]
      end
    end
    return shared
  end

  NETWORKS.read = function(digests)
    local is_new, new = {}, {}
    for _, digest in ipairs(digests) do
      if not known[digest] and not is_new[digest] then is_new[digest], new[#new + 1] = true, digest end
    end
    if #new == 0 then return end
    local shared = read_all(new)
    for _, digest in ipairs(shared) do
      local name = string.sub(digest, -SHARED_DIGITS)
      if not known[name] then read_all({ name }) end
      known[digest] = known[name]
    end
  end

  -- For each newcomer whether it may join: 'joins' or 'places' if its network has had too many, else false. Whoever joins
  -- is counted. How many were beyond each limit; `limits.only_logs`: they join all the same. And in how many seconds the
  -- first of those beyond the first limit may come again.
  NETWORKS.let_join = function(digests, limits)
    local beyond, refused, wait_s = { joins = 0, places = 0 }, {}, 0
    for i, digest in ipairs(digests) do
      local took, over = known[digest], false
      if limits.joins and sum(took.j) >= limits.joins then
        over = 'joins'
        local oldest = math.huge
        for time in pairs(took.j) do oldest = math.min(oldest, time) end
        wait_s = math.max(wait_s, math.ceil(((oldest + SPANS.j.steps + 1) * SPANS.j.step - now) / 1000))
      elseif limits.places and sum(took.p) >= limits.places then
        over = 'places'
      end
      if over then beyond[over] = beyond[over] + 1 end
      refused[i] = not limits.only_logs and over
      if not refused[i] then
        add(took, 'j')
        add(took, 'p')
      end
    end
    return refused, beyond, wait_s
  end

  NETWORKS.leave_line = function(digest) take_back(known[digest], 'p') end

  NETWORKS.write = function()
    local fields, is_written = {}, {}
    for _, took in pairs(known) do
      if took.is_changed and not is_written[took.name] then
        is_written[took.name] = true
        fields[#fields + 1] = took.name
      end
    end
    if #fields == 0 then return end
    table.sort(fields)
    local pairs_of = {}
    local new = 0
    for i, name in ipairs(fields) do
      pairs_of[2 * i - 1], pairs_of[2 * i] = name, as_text(known[name])
      if known[name].is_new then new = new + 1 end
    end
    redis.call('HSET', period(0), unpack(pairs_of))
    if new > 0 then redis.call('HINCRBY', period(0), COUNT, new) end
    redis.call('EXPIRE', period(0), 2 * PERIOD_MS / 1000)
  end

  NETWORKS.leave_line_now = function(list)
    local digests = {}
    for _, each in ipairs(list) do digests[#digests + 1] = each.network end
    if #digests == 0 then return end
    NETWORKS.read(digests)
    for _, digest in ipairs(digests) do NETWORKS.leave_line(digest) end
    NETWORKS.write()
  end

  -- Forgets those of a network's seats whose sessions are over.
  local function look_at_seats(key, line)
    local numbers = redis.call('ZRANGE', key, 0, MOST_LOOKED_AT - 1)
    local ends = redis.call('ZMSCORE', keys.sessions, unpack(numbers))
    local over, lasting = {}, {}
    for i, number in ipairs(numbers) do
      if (tonumber(ends[i] or nil) or 0) < sessions_from(line, now) then
        over[#over + 1] = number
      else
        lasting[#lasting + 1], lasting[#lasting + 2] = ends[i], number
      end
    end
    -- Those who were looked at go to the end of those to look at next.
    if #lasting > 0 then redis.call('ZADD', key, unpack(lasting)) end
    if #over > 0 then redis.call('ZREM', key, unpack(over)) end
  end

  -- Most networks of a crowd have no seat: that is found out of all of them in one call.
  NETWORKS.read_seats = function(digests)
    local keys_of, is_in = {}, {}
    for _, digest in ipairs(digests) do
      if not is_in[digest] then is_in[digest], keys_of[#keys_of + 1] = true, key_of('seats:' .. digest) end
    end
    if redis.call('EXISTS', unpack(keys_of)) > 0 then return end
    for digest in pairs(is_in) do seats[digest] = 0 end
  end

  -- How many more seats the network may have.
  NETWORKS.seats_left = function(digest, limit, line)
    if seats[digest] then return limit - seats[digest] end
    local key = key_of('seats:' .. digest)
    local held = redis.call('ZCARD', key)
    if held >= limit then
      look_at_seats(key, line)
      held = redis.call('ZCARD', key)
    end
    seats[digest] = held
    return limit - held
  end

  -- The session of a number begins in this network.
  NETWORKS.take_seat = function(digest, number, until_ms)
    local key = key_of('seats:' .. digest)
    local is_new = redis.call('ZADD', key, until_ms, number) == 1
    redis.call('EXPIRE', key, SEATS_KEPT_S)
    if seats[digest] and is_new then seats[digest] = seats[digest] + 1 end
  end

  -- Whether the claim is to be kept out because its network has its seats. `claim.is_beyond`: that it has them, though
  -- it may be that this is only counted.
  NETWORKS.is_full = function(claim, line)
    if not claim.seats_per_network then return false end
    if NETWORKS.seats_left(claim.network, claim.seats_per_network, line) > 0 then return false end
    claim.is_beyond = true
    return claim.only_logs ~= '1'
  end
end
