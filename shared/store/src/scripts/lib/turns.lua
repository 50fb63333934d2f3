-- Turns: who of those who ask in a call may take a free seat, beside everyone at the door. Needs lib/door, lib/serving,
-- lib/bitmaps.
-- Each function is given `call`: keys, line, now; free: how many seats are free; asking: the claims that ask for one, by
-- rank; moves: see `moves_lately`; taken: position -> what this call gave it.

-- Those at the door are looked at for at most so many free seats.
local function looked_at(call) return math.min(call.free, MOST_LOOKED_AT) end

-- Within what time whoever is there asks once it is served, ms. Clients of the AWS-style calls have longer; but one behind
-- which somebody has entered does not wait for those who might still come before it, or it would find no seat at all.
local function period_of(call, position, is_aws_style)
  local was_passed = position < call.line.entered_upto
  return is_aws_style and not was_passed and math.max(call.line.unknown_period_ms, WEB_PERIOD_MS) or WEB_PERIOD_MS
end

-- When a position has been served for long enough that everyone before it can have asked, too, ms.
local function ripe_at(call, position, is_aws_style)
  if call.free == math.huge or position > call.line.serving_counter then return 0 end
  local served = served_at(call.moves, position)
  return served > 0 and served + period_of(call, position, is_aws_style) or 0
end

-- Whether who is ripe since then has been so for so long: whoever is before it and became ripe at the same moment has
-- had the time to ask.
local function has_been_ripe(call, ripe, ms) return ripe == 0 or call.now - ripe >= ms end

-- The lowest `count` at the door, at most, as it is before anybody of this call enters or asks on: read once. `upto`: see
-- `first_at_door`.
local function lowest_before(call, count)
  call.before = call.before
    or first_at_door(call.keys, looked_at(call) + #call.asking + DOOR_AHEAD, call.now)
  local lowest = { upto = #call.before < count and call.before.upto or nil }
  for i = 1, math.min(count, #call.before) do lowest[i] = call.before[i] end
  return lowest
end

-- The places from `first` on whose visitors ask, here or at the door, in order.
local function asking_from(call, first)
  call.asking_from = call.asking_from or {}
  if call.asking_from[first] then return call.asking_from[first] end
  local places, is_counted = {}, {}
  for _, others in ipairs({ call.asking, lowest_before(call, looked_at(call) + #call.asking + DOOR_AHEAD) }) do
    for _, other in ipairs(others) do
      if other.position >= first and not is_counted[other.position] then
        places[#places + 1], is_counted[other.position] = other.position, true
      end
    end
  end
  table.sort(places)
  call.asking_from[first] = places
  return places
end

-- How many of these places, which are in order, are before that one.
local function count_before(places, place)
  local low, high = 1, #places + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if places[middle] < place then low = middle + 1 else high = middle end
  end
  return low - 1
end

-- Whether nobody is waited for before the claim: everyone who was served so lately that it need not have asked yet has
-- come, so it is inside, or gone, or asks here or at the door; or, as a client of the AWS-style calls would wait for long,
-- there are seats for those who have not, too. `nth`: its place among those who ask in this call.
local function is_nobody_awaited(call, claim, nth)
  local is_aws_style = claim.kind == 'a'
  if not is_aws_style and call.missing_before and claim.position >= call.missing_before then return false end
  local period = period_of(call, claim.position, is_aws_style)
  local first, last = served_by(call.moves, call.line, call.now - period) + 1, claim.position - 1
  if last - first >= MOST_COUNTED then return false end
  local count = count_bits(call.keys.entered, first, last) + count_before(asking_from(call, first), claim.position)
  local missing = last - first + 1 - count
  if missing <= 0 then return true end
  if is_aws_style then
    local at_door = redis.call('ZCOUNT', call.keys.door, '-inf', string.format('(%d', claim.rank))
    if missing + at_door + nth <= call.free then return true end
  end
  call.missing_before = claim.position
  return false
end

-- Of everyone who asks, here and at the door, the rank up to which there are seats. `is_sure`: of those at the
-- door only whoever surely still asks counts.
local function highest_rank_with_seat(call, is_sure)
  local free, asking = call.free, call.asking
  if free == 0 then return -1 end
  if free >= redis.call('ZCARD', call.keys.door) + #asking then return math.huge end
  local rank_of = {}
  for _, claim in ipairs(asking) do rank_of[claim.position] = claim.rank end
  local most = looked_at(call) + #asking
  local lowest = lowest_before(call, most)
  for _, other in ipairs(lowest) do
    if not is_sure or surely_asks(other, call.line, call.now) then
      rank_of[other.position] = rank_of[other.position] or other.rank
    end
  end
  local ranks = {}
  for _, rank in pairs(rank_of) do ranks[#ranks + 1] = rank end
  table.sort(ranks)
  local highest = ranks[math.min(free, #ranks)] or -1
  -- Of those behind who were not looked at nobody knows how many ask.
  local upto = lowest.upto or #lowest == most and lowest[most].rank or math.huge
  return math.min(highest, upto)
end

-- Whether somebody with a browser at the door would soon pass those who are next and not ripe: clients of the
-- AWS-style calls, who have longer to ask.
local is_web_waiting
do
  local function look(call)
    if call.free == 0 or call.line.unknown_period_ms <= WEB_PERIOD_MS then return false end
    for _, claim in ipairs(call.asking) do
      if claim.kind == 'v' then return true end
    end
    for _, other in ipairs(lowest_before(call, call.free + DOOR_AHEAD)) do
      if not get_bit(call.keys.unattended, other.position) then return true end
    end
    return false
  end

  is_web_waiting = function(call)
    if call.is_web_waiting == nil then call.is_web_waiting = look(call) end
    return call.is_web_waiting
  end
end

-- One name instead of two: Lua allows a script 200.
-- TURNS.is_surely_next(call, claim): whether a seat is for the claim if only those who surely still ask are before it.
-- TURNS.would_pass_well(call, claim, highest, seats): whether the claim would get one of these seats past others whose
-- instances are well, besides those who have a right to the free seats, up to the rank `highest`: it is for them.
-- TURNS.ripe_before_others(call, claim, highest): when the claim is ripe, ms: a client of the AWS-style calls at the latest
-- with the first browser behind it, of those that have a right to a free seat if it has one itself, and so is not left to
-- hope that there is another; and if it is next, soon after a browser in its place would be, where one waits.
local TURNS = {}
do
  -- By so much a client of the AWS-style calls that is next is ripe later than a browser would be: somebody of its own kind
  -- before it may come still.
  local AFTER_WEB_MS = 150

  -- The places of browsers up to that rank, here and at the door, in order.
  local function browsers_upto(call, highest)
    local positions, places, is_counted = {}, {}, {}
    for _, claim in ipairs(call.asking) do
      is_counted[claim.position] = true
      if claim.kind == 'v' and claim.rank <= highest then places[#places + 1] = claim.position end
    end
    for _, other in ipairs(lowest_before(call, looked_at(call) + #call.asking)) do
      if other.rank <= highest and not is_counted[other.position] then positions[#positions + 1] = other.position end
    end
    if #positions > 0 then
      local is_unattended = get_bits(call.keys.unattended, positions)
      for _, position in ipairs(positions) do
        if not is_unattended[position] then places[#places + 1] = position end
      end
    end
    table.sort(places)
    return places
  end

  TURNS.ripe_before_others = function(call, claim, highest)
    local ripe = ripe_at(call, claim.position, claim.kind == 'a')
    if claim.kind ~= 'a' or ripe <= call.now or call.free == 0 then return ripe end
    local is_next = claim.rank <= highest
    if is_next and is_web_waiting(call) then
      ripe = math.min(ripe, ripe_at(call, claim.position, false) + AFTER_WEB_MS)
    end
    -- One that has no right to a seat may only go past others, and so may every browser behind it.
    local upto = is_next and highest or math.huge
    call.browsers = call.browsers or {}
    call.browsers[upto] = call.browsers[upto] or browsers_upto(call, upto)
    local behind = call.browsers[upto][count_before(call.browsers[upto], claim.position) + 1]
    return behind and math.min(ripe, ripe_at(call, behind, false)) or ripe
  end

  -- Within this time an instance that is well has asked again for its lowest, ms: it hears of the room four times a
  -- second, and looks twenty times.
  local ASKED_JUST_NOW_MS = 350

  TURNS.is_surely_next = function(call, claim)
    call.highest_sure = call.highest_sure or highest_rank_with_seat(call, true)
    return claim.rank <= call.highest_sure
  end

  -- The ranks of those for whom others asked just now, and who may have a seat that has been free for long: they were
  -- told when that would be, and are about to ask.
  local function just_asked(call)
    local is_here, others, positions = {}, {}, {}
    for _, claim in ipairs(call.asking) do is_here[claim.position] = true end
    for _, other in ipairs(lowest_before(call, looked_at(call) + #call.asking + DOOR_AHEAD)) do
      if not is_here[other.position] then
        others[#others + 1], positions[#positions + 1] = other, other.position
      end
    end
    local ranks = {}
    if #others == 0 then return ranks end
    local is_unattended = get_bits(call.keys.unattended, positions)
    for i, asked_at in ipairs(redis.call('ZMSCORE', call.keys.seatless, unpack(positions))) do
      local ripe = ripe_at(call, positions[i], is_unattended[positions[i]])
      local is_well = call.now - (tonumber(asked_at or nil) or 0) <= ASKED_JUST_NOW_MS
      if is_well and has_been_ripe(call, ripe, FREE_LONG_MS) then ranks[#ranks + 1] = others[i].rank end
    end
    return ranks
  end

  TURNS.would_pass_well = function(call, claim, highest, seats)
    call.just_asked = call.just_asked or just_asked(call)
    local count = 0
    for _, rank in ipairs(call.just_asked) do
      if rank > highest and rank < claim.rank then count = count + 1 end
    end
    call.waits_for_well = call.waits_for_well or count >= seats
    return count >= seats
  end
end

-- How many seats have been free for so long, while others asked who have a right to them and did not come:
-- the least that any call left free since `free_since`.
local function free_for(call, ms)
  local line = call.line
  if line.free_since > 0 and at_door(call.keys, call.now) == 0 then line.free_since = 0 end
  local is_long = line.free_since > 0 and call.now - line.free_since >= ms
  return is_long and math.min(line.free_least, call.free) or 0
end

-- Until when one of those who have a right to a free seat, of whom few were called, is waited for, ms: until it keeps
-- asking no more. Whoever is passed may wait for long for the next seat, and an instance that is cut off for a moment
-- asks for its visitors again once it is back.
local function waited_for(call, other)
  -- Where a browser waits, a client of the AWS-style calls is there for the seat, and has to be asked first.
  local has_longer = get_bit(call.keys.unattended, other.position) and not is_web_waiting(call)
  return ripe_at(call, other.position, has_longer) <= call.now and math.floor(other.asked_until) + ASKS_AGAIN_MS or 0
end

-- When everyone of `lowest`, who have a right to the free seats, is ripe, ms, and is waited for no more: a seat that
-- waits for them until then is not left free by them.
local function all_ripe_at(call, lowest)
  local latest, is_patient = 0, are_few(call.line)
  for _, other in ipairs(lowest) do
    local is_served = other.position <= call.line.serving_counter
    local served = is_served and served_at(call.moves, other.position) or 0
    latest = math.max(latest, served > 0 and served + WEB_PERIOD_MS or 0)
    if is_patient then latest = math.max(latest, waited_for(call, other) - FREE_OPEN_MS) end
  end
  return latest
end

-- Those who have a right to the free seats may be others by now.
local function wait_for_others(call)
  local line = call.line
  if call.free == 0 or call.free == math.huge or line.free_since == 0 then return end
  local is_here, others = {}, {}
  for _, claim in ipairs(call.asking) do is_here[claim.position] = true end
  for _, other in ipairs(lowest_before(call, looked_at(call))) do
    if not is_here[other.position] then others[#others + 1] = other end
  end
  line.free_since = math.max(line.free_since, all_ripe_at(call, others))
end

-- So many seats are left free, since when and how many at least.
local function note_left(call, left)
  local line, now = call.line, call.now
  if call.free == math.huge or left <= 0 then
    line.free_since, line.free_least = 0, 0
    return
  end
  local waits_until = all_ripe_at(call, first_at_door(call.keys, math.min(left, MOST_LOOKED_AT), now))
  if line.free_since == 0 or now - line.free_since >= FREE_LONG_MS and not call.waits_for_well then
    line.free_since, line.free_least = math.max(now, waits_until), left
  else
    line.free_since = math.max(line.free_since, waits_until)
    line.free_least = math.min(line.free_least, left)
  end
end

-- So many seats went to somebody higher than those who had a right to them and were too slow: these, the
-- lowest at the door of whom nobody knows whether they still ask, and then the lowest, delay nobody again.
-- `here`: the positions that ask on in this call.
local function note_passed(call, seats, here)
  if seats == 0 then return end
  local lowest = first_at_door(call.keys, looked_at(call) + #call.asking, call.now)
  for _, is_sure in ipairs({ false, true }) do
    for _, other in ipairs(lowest) do
      local is_away = not call.taken[other.position] and not here[other.position]
      if seats > 0 and is_away and surely_asks(other, call.line, call.now) == is_sure then
        redis.call('ZREM', call.keys.door, other.position)
        redis.call('ZADD', call.keys.passed, call.now, other.position)
        seats = seats - 1
      end
    end
  end
end

-- When the claims that `found_none` may find a seat that is free now, ms: whoever is next, once it is ripe; the others
-- once a seat has been free for long.
local function free_later(call, found_none)
  local free_at, since = nil, call.line.free_since
  for _, other in ipairs(found_none) do
    local passes_after = TURNS.is_surely_next(call, other.claim) and FREE_OPEN_MS or FREE_LONG_MS
    local at = other.is_next and other.ripe or math.max(other.ripe, since) + passes_after
    at = math.max(at, call.now + 1)
    free_at = math.min(free_at or at, at)
  end
  return free_at
end
