-- The serving counter and when each part of the line was served.
-- rows: sorted set, score = serving counter after the move, member "counter:issued ms:who:joined
-- ms", who = o (an operator's increment) or t (the tick, or the join script), joined = when the
-- last visitor of the row came, if the row was served before that; otherwise 0.

-- Moves of the tick within one such step share a row, with the later time.
local MERGE_MS = 1000
-- So many rows of numbers that nobody has yet are kept, at most; later moves share the last. Whoever comes has its time
-- from then on, whichever row it is in.
local MOST_AHEAD = 1000

local function row_of(member)
  local counter, issued, who, joined = string.match(member, '^(%-?%d+):(%d+):(%a):(%d+)$')
  return {
    member = member, counter = tonumber(counter), issued = tonumber(issued), who = who,
    joined = tonumber(joined),
  }
end

local function add_row(keys, counter, issued, who, joined)
  local member = string.format('%d:%d:%s:%d', counter, issued, who, joined or 0)
  redis.call('ZADD', keys.rows, counter, member)
end

local function last_row(keys)
  local last = redis.call('ZREVRANGE', keys.rows, 0, 0)
  return last[1] and row_of(last[1]) or nil
end

local function drop_row(keys, row)
  redis.call('ZREM', keys.rows, row.member)
end

-- The moves of the last seconds, in order, as "counter:ms counter:ms …" in `served_lately`, so that it is known
-- for how long someone near the front has been served; ms 0: for long. Moves within one step count as one,
-- with the later time; after a while steps are longer, because the list is read with every claim.
local function moves_lately(keys)
  local moves = {}
  local text = redis.call('HGET', keys.line, 'served_lately') or ''
  for counter, ms in string.gmatch(text, '(%-?%d+):(%d+)') do
    moves[#moves + 1] = { counter = tonumber(counter), ms = tonumber(ms) }
  end
  return moves
end

-- `alone`: nobody waits, so whoever is served now need not wait for anybody before it.
local function note_move(keys, target, now, alone)
  local LATELY_MS, STEP_MS = 10000, 100
  local FINE_MS, COARSE_STEP_MS = 1500, 1000
  local ms = math.ceil(now / STEP_MS) * STEP_MS
  local base, texts, coarse = alone and target, {}, nil
  for _, move in ipairs(alone and {} or moves_lately(keys)) do
    if move.ms < now - LATELY_MS then
      base = move.counter
    elseif move.ms < ms then
      local step = math.floor(move.ms / COARSE_STEP_MS)
      -- The last move of a step stands for all of them.
      if move.ms < now - FINE_MS and step == coarse then texts[#texts] = nil end
      coarse = step
      texts[#texts + 1] = string.format('%d:%d', move.counter, move.ms)
    end
  end
  if base then table.insert(texts, 1, string.format('%d:0', base)) end
  if not alone then texts[#texts + 1] = string.format('%d:%d', target, ms) end
  redis.call('HSET', keys.line, 'served_lately', table.concat(texts, ' '))
end

-- When `position`, which is served, was served, ms: 0 if that is long ago.
local function served_at(moves, position)
  for _, move in ipairs(moves) do
    if move.counter >= position then return move.ms end
  end
  return 0
end

-- Up to which position everyone was served at `at_ms` at the latest.
local function served_by(moves, line, at_ms)
  for i = #moves, 1, -1 do
    if moves[i].ms <= at_ms then return moves[i].counter end
  end
  return #moves > 0 and 0 or line.serving_counter
end

-- Whether a move at `now` shares the last row.
local function shares_its_row(keys, line, last, now, who)
  if last.who ~= who then return false end
  if who == 't' then return math.floor(last.issued / MERGE_MS) == math.floor(now / MERGE_MS) end
  return redis.call('ZCOUNT', keys.rows, string.format('(%d', line.queue_counter), '+inf') > MOST_AHEAD
end

-- Moves the counter up to `target`. `alone`: nobody waits, and the newcomers are next.
local function raise_serving(keys, line, target, now, who, alone)
  if target <= line.serving_counter then return end
  note_move(keys, target, now, alone)
  local last = last_row(keys)
  if last and shares_its_row(keys, line, last, now, who) then drop_row(keys, last) end
  add_row(keys, target, now, who)
  redis.call('HSET', keys.line, 'serving_counter', target)
  line.serving_counter = target
end

-- An operator takes the counter back: the rows above fall to it and keep the time of the lowest.
local function lower_serving(keys, line, target, now)
  local above = string.format('(%d', target)
  local lowest = redis.call('ZRANGEBYSCORE', keys.rows, above, '+inf', 'LIMIT', 0, 1)[1]
  if lowest then
    local row = row_of(lowest)
    redis.call('ZREMRANGEBYSCORE', keys.rows, above, '+inf')
    -- Whoever came since the row was served has its time from then on: of a row with numbers that nobody has yet, until now.
    add_row(keys, target, row.issued, row.who, row.counter > line.queue_counter and now or row.joined)
  end
  redis.call('HSET', keys.line, 'serving_counter', target, 'served_lately', '')
  line.serving_counter = target
end

-- The row that serves `position`, or nil.
local function row_for(keys, position)
  local row = redis.call('ZRANGEBYSCORE', keys.rows, position, '+inf', 'LIMIT', 0, 1)
  return row[1] and row_of(row[1]) or nil
end

-- Since when (unix s) a position, whose visitor entered the room at `entered_at`, has been served: the later of
-- the join and the serving. For many positions, of which most are served by the same row.
local function serving_times(keys, line)
  local row, lowest
  return function(position, entered_at)
    if not row or position < lowest or position > row.counter then
      row, lowest = row_for(keys, position), position
    end
    return math.max(entered_at, math.floor((row and row.issued or line.restored_at) / 1000))
  end
end

-- The same of one whose time was over: never. After a loss nobody knows who had asked and had longer, so each has all of
-- its time again from then on.
local function served_when_over(line)
  return line.restored_at > 0 and math.floor(line.restored_at / 1000) or -math.huge
end

-- Since when (unix s) it has had the chance to claim, for `expiry` seconds: since it was served, or since it asked and
-- found no seat. More members of `seatless` can say so, too. Where nobody could enter for a while, whoever had some of
-- its time left has all of it again.
local function able_since(keys, line, expiry, served, position, ...)
  local since = served
  for _, at in ipairs(redis.call('ZMSCORE', keys.seatless, position, extension_of(position), ...)) do
    if at then since = math.max(since, math.floor(tonumber(at) / 1000)) end
  end
  local was_over = since + expiry < math.floor(line.held_from / 1000)
  return was_over and since or math.max(since, math.floor(line.held_at / 1000))
end
