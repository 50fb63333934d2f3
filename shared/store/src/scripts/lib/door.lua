-- The door: who asks for a seat, the lowest rank first. A rank is a position, or, for winners of a random
-- room, beyond all positions.
-- door: position -> rank. asked: position -> until when (ms) its request was open, and AGAIN more if it was not
-- its first. passed: positions that somebody higher has passed, because they were slow; they delay nobody
-- again.

-- Somebody keeps asking whose request is open, or was within this time, ms.
local ASKS_AGAIN_MS = 1200
-- Nobody is forgotten at once who waits for an answer, or for the network, ms.
local ASKED_LATELY_MS = 4000
-- What tells in `asked`, whose times are whole, who has asked more than once.
local AGAIN = 0.5
-- A seat that has been free for so long goes to the lowest of those who surely still ask, ms. Where few were called it
-- is free only once those before them keep asking no more.
local FREE_OPEN_MS = 150
-- Then it goes to the lowest of those whose instances are well.
local FREE_LONG_MS = 250
-- Where more people than this were called, some seconds' worth of admissions, whoever is passed finds another
-- seat a moment later.
local FEW_CALLED = 32
-- Among so many at the door behind those who are next somebody is looked for who would pass them.
local DOOR_AHEAD = 8
-- So many of those at the door are looked at in one call, or nobody else would be answered for long: of more
-- seats that are free at once, some are taken by the next calls.
local MOST_LOOKED_AT = 128
-- Clients of the visitor's calls ask within this time of being served, ms.
local WEB_PERIOD_MS = 1250
-- Of more places than this that were served together nobody counts who has come.
local MOST_COUNTED = 100000

-- These claims found no seat, and go on asking for as long as each is held.
local function ask_on(keys, claims, now)
  if #claims == 0 then return end
  local positions, door, asked, seatless = {}, {}, {}, {}
  for i, claim in ipairs(claims) do positions[i] = claim.position end
  for i, passed in ipairs(redis.call('ZMSCORE', keys.passed, unpack(positions))) do
    local claim = claims[i]
    if not passed then
      door[#door + 1], door[#door + 2] = claim.rank, claim.position
    end
    asked[2 * i - 1], asked[2 * i] = now + claim.held_ms + (claim.came_before and AGAIN or 0), claim.position
    seatless[2 * i - 1], seatless[2 * i] = now, claim.position
  end
  if #door > 0 then redis.call('ZADD', keys.door, unpack(door)) end
  redis.call('ZADD', keys.asked, unpack(asked))
  redis.call('ZADD', keys.seatless, unpack(seatless))
end

-- Whoever enters or leaves does not ask any more.
local function leave_door(keys, positions)
  if #positions == 0 then return end
  redis.call('ZREM', keys.door, unpack(positions))
  redis.call('ZREM', keys.asked, unpack(positions))
  redis.call('ZREM', keys.passed, unpack(positions))
end

-- The lowest `count` of those who keep asking, as positions with their ranks. Others found on the way are
-- sent off; `upto`: the rank up to which it was looked, if so many were that nobody looked further.
local first_at_door
do
  -- So many are sent off in one look, or nobody else would be answered for long where a crowd has gone.
  local MOST_SENT_OFF = 128

  first_at_door = function(keys, count, now)
    local first, size, sent_off = {}, math.min(count, 64), 0
    while #first < count do
      local page = redis.call('ZRANGE', keys.door, #first, #first + size - 1, 'WITHSCORES')
      if #page == 0 then return first end
      local positions, silent = {}, {}
      for i = 1, #page, 2 do positions[#positions + 1] = page[i] end
      local asked = redis.call('ZMSCORE', keys.asked, unpack(positions))
      for i, position in ipairs(positions) do
        if (tonumber(asked[i]) or 0) >= now - ASKS_AGAIN_MS then
          local asked_until = tonumber(asked[i])
          first[#first + 1] = {
            position = tonumber(position), rank = tonumber(page[2 * i]),
            asked_until = asked_until, comes_back = asked_until % 1 == AGAIN,
          }
        else
          silent[#silent + 1] = position
        end
      end
      if #silent > 0 then redis.call('ZREM', keys.door, unpack(silent)) end
      sent_off = sent_off + #silent
      if sent_off >= MOST_SENT_OFF and #first < count then
        first.upto = tonumber(page[#page])
        return first
      end
    end
    return first
  end
end

local function are_few(line) return line.promised <= FEW_CALLED end

-- Whether one of `first_at_door` surely still asks: its request is open, or, where nobody waits for whoever is
-- silent, it has come back before.
local function surely_asks(other, line, now)
  return other.asked_until > now or other.comes_back and not are_few(line)
end

-- How many keep asking.
local function at_door(keys, now)
  return redis.call('ZCOUNT', keys.asked, now - ASKS_AGAIN_MS, '+inf')
end

-- Whether anybody has asked for a seat lately and did not get one: then the rate is spread evenly.
local function have_some_asked(keys, now)
  return redis.call('ZCOUNT', keys.asked, now - ASKED_LATELY_MS, '+inf') > 0
end
