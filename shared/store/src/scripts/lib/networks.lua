-- Limits per network: how many newcomers of it come in a minute, how many places in line it has, and how many seats.
-- A network is known by a digest; nobody can tell its addresses from it.
-- networks:<reset epoch>:<period>: digest -> what it took lately, as `j<step>:<count>` for newcomers and `p<step>:<count>`
-- for places, by the steps in which they came. Those of the steps under way are the last two; if there are others, these
-- are told first, behind how many they are together: `(<newcomers> <places>) …`. So within a step nobody has to take them
-- apart. What nothing is added to for a period is forgotten.
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

  -- known: digest -> what is kept of it under `name`: `come` newcomers and `placed` of their places are of the steps under
  -- way, those that this script adds among them, `joins_before` and `places_before` of earlier ones: `before` tells of
  -- which, as text or, once it had to be taken apart, as `took`. `listed`: each of them once, in the order in which they
  -- were read.
  local known, listed, seats = {}, {}, {}

  local function key_of(what) return string.format('%s:%d:%s', keys.networks, stamp.reset_epoch, what) end
  local function period(ago) return key_of(string.format('%d', math.floor(now / PERIOD_MS) - ago)) end
  local function step_of(what) return math.floor(now / SPANS[what].step) end

  -- What counts still.
  local function parsed(text)
    local took = { j = {}, p = {} }
    for what, step, count in string.gmatch(text, '(%a)(%d+):(%d+)') do
      local span = SPANS[what]
      step, count = tonumber(step), tonumber(count)
      if span and count > 0 and step >= step_of(what) - span.steps then took[what][step] = count end
    end
    return took
  end

  local function as_text(took)
    local parts = {}
    for what in pairs(SPANS) do
      for step, count in pairs(took[what]) do
        if count > 0 then parts[#parts + 1] = string.format('%s%d:%d', what, step, count) end
      end
    end
    table.sort(parts)
    return table.concat(parts, ' ')
  end

  local function took_before(network)
    network.took = network.took or parsed(network.before)
    return network.took
  end

  local function sum(counts)
    local total = 0
    for _, count in pairs(counts) do total = total + count end
    return total
  end

  -- What texts of the steps under way look like: of networks that took nothing before them, of others, and as it is written.
  local of_these_steps, with_earlier, these_steps

  local function look_at_clock()
    local j, p = step_of('j'), step_of('p')
    of_these_steps = string.format('^j%d:(%%d+) p%d:(%%d+)$', j, p)
    with_earlier = string.format('^%%((%%d+) (%%d+)%%) (.*) j%d:(%%d+) p%d:(%%d+)$', j, p)
    these_steps = string.format('j%d:%%d p%d:%%d', j, p)
  end

  -- What a text says, nil: nothing is kept.
  local function read_text(text)
    local come, placed = string.match(text or '', of_these_steps)
    if come or not text then
      return { come = tonumber(come) or 0, placed = tonumber(placed) or 0, joins_before = 0, places_before = 0 }
    end
    local joins, places, before, come_now, placed_now = string.match(text, with_earlier)
    if joins then
      return { come = tonumber(come_now), placed = tonumber(placed_now), joins_before = tonumber(joins),
        places_before = tonumber(places), before = before }
    end
    local took = parsed(text)
    come, placed = took.j[step_of('j')] or 0, took.p[step_of('p')] or 0
    took.j[step_of('j')], took.p[step_of('p')] = nil, nil
    return { come = come, placed = placed, joins_before = sum(took.j), places_before = sum(took.p), took = took }
  end

  -- As it is to be kept. `texts`: those of networks that took nothing before these steps, by how many came and stay.
  local function text_of(network, texts)
    if network.joins_before + network.places_before > 0 then
      local before = network.before or as_text(network.took)
      return string.format('(%d %d) %s ' .. these_steps, network.joins_before, network.places_before, before, network.come,
        network.placed)
    end
    local of_placed = texts[network.placed] or {}
    texts[network.placed] = of_placed
    of_placed[network.come] = of_placed[network.come] or string.format(these_steps, network.come, network.placed)
    return of_placed[network.come]
  end

  local function joins_of(network) return network.joins_before + network.come end
  local function places_of(network) return network.places_before + network.placed end

  -- In how many seconds a network that has had too many newcomers may send another one.
  local function wait_of(network)
    local oldest = network.come > 0 and step_of('j') or math.huge
    if network.joins_before > 0 then
      for step in pairs(took_before(network).j) do oldest = math.min(oldest, step) end
    end
    return math.ceil(((oldest + SPANS.j.steps + 1) * SPANS.j.step - now) / 1000)
  end

  -- The oldest is given back: whoever came first enters first.
  local function take_back(network)
    if network.places_before > 0 then
      local places, oldest = took_before(network).p, nil
      for step, count in pairs(places) do
        if count > 0 and (not oldest or step < oldest) then oldest = step end
      end
      places[oldest], network.places_before, network.before = places[oldest] - 1, network.places_before - 1, nil
    elseif network.placed > 0 then
      network.placed = network.placed - 1
    else
      return
    end
    network.is_changed = true
  end

  -- Reads what is kept under these names, which are not known yet. Returns those that are too many to have a name of
  -- their own.
  local function read_named(names)
    local now_of = redis.call('HMGET', period(0), COUNT, unpack(names))
    local is_full = (tonumber(now_of[1]) or 0) >= MOST
    local before = redis.call('HMGET', period(1), unpack(names))
    local sharing = {}
    for i, name in ipairs(names) do
      local text = now_of[i + 1] or before[i] or nil
      if is_full and not text and #name > SHARED_DIGITS then
        sharing[#sharing + 1] = name
      else
        local network = read_text(text)
        network.name, network.is_new = name, not now_of[i + 1]
        known[name], listed[#listed + 1] = network, network
      end
    end
    return sharing
  end

  -- Of those that are not known yet each once.
  local function unknown_of(names)
    local unknown, is_in = {}, {}
    for _, name in ipairs(names) do
      if not known[name] and not is_in[name] then is_in[name], unknown[#unknown + 1] = true, name end
    end
    return unknown
  end

  NETWORKS.read = function(digests)
    local unknown = unknown_of(digests)
    if #unknown == 0 then return end
    look_at_clock()
    local sharing, names = read_named(unknown), {}
    if #sharing == 0 then return end
    for i, digest in ipairs(sharing) do names[i] = string.sub(digest, -SHARED_DIGITS) end
    local shared = unknown_of(names)
    if #shared > 0 then read_named(shared) end
    for i, digest in ipairs(sharing) do known[digest] = known[names[i]] end
  end

  -- For each newcomer whether it may join: 'joins' or 'places' if its network has had too many, else false. Whoever joins
  -- is counted. How many were beyond each limit; `limits.only_logs`: they join all the same. And in how many seconds the
  -- first of those beyond the first limit may come again.
  NETWORKS.let_join = function(digests, limits)
    local beyond, refused, wait_s = { joins = 0, places = 0 }, {}, 0
    for i, digest in ipairs(digests) do
      local network, over = known[digest], false
      if limits.joins and joins_of(network) >= limits.joins then
        over, wait_s = 'joins', math.max(wait_s, wait_of(network))
      elseif limits.places and places_of(network) >= limits.places then
        over = 'places'
      end
      if over then beyond[over] = beyond[over] + 1 end
      refused[i] = not limits.only_logs and over
      if not refused[i] then
        network.come, network.placed, network.is_changed = network.come + 1, network.placed + 1, true
      end
    end
    return refused, beyond, wait_s
  end

  NETWORKS.leave_line = function(digest) take_back(known[digest]) end

  NETWORKS.write = function()
    local fields, texts, new = {}, {}, 0
    for _, network in ipairs(listed) do
      if network.is_changed then
        fields[#fields + 1], fields[#fields + 2] = network.name, text_of(network, texts)
        if network.is_new then new = new + 1 end
      end
    end
    if #fields == 0 then return end
    redis.call('HSET', period(0), unpack(fields))
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
    local prefix, keys_of, is_in = key_of('seats:'), {}, {}
    for _, digest in ipairs(digests) do
      if not is_in[digest] then is_in[digest], keys_of[#keys_of + 1] = true, prefix .. digest end
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
    LISTED.note(keys.networks, string.format('%d:seats:%s', stamp.reset_epoch, digest), SEATS_KEPT_S)
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
