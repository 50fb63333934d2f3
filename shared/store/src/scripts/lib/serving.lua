-- The serving counter and when each part of the line was served.
-- rows: sorted set, score = serving counter after the move, member "counter:issued ms:who:joined
-- ms", who = o (an operator's increment) or t (the tick, or the join script), joined = when the
-- last visitor of the row came, if the row was served before that; otherwise 0.

-- Moves of the tick closer together than this share a row, with the later time.
local MERGE_MS = 1000

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

-- Moves the counter up to `target`.
local function raise_serving(keys, line, target, now, who)
  if target <= line.serving_counter then return end
  local last = who == 't' and last_row(keys)
  if last and last.who == 't' and now - last.issued < MERGE_MS then
    drop_row(keys, last)
  end
  add_row(keys, target, now, who)
  redis.call('HSET', keys.line, 'serving_counter', target)
  line.serving_counter = target
end

-- An operator takes the counter back: the rows above fall to it and keep their time.
local function lower_serving(keys, line, target)
  local above = redis.call('ZRANGEBYSCORE', keys.rows, string.format('(%d', target), '+inf')
  for i, member in ipairs(above) do
    local row = row_of(member)
    drop_row(keys, row)
    if i == 1 then add_row(keys, target, row.issued, row.who) end
  end
  redis.call('HSET', keys.line, 'serving_counter', target)
  line.serving_counter = target
end

-- The row that serves `position`, or nil.
local function row_for(keys, position)
  local row = redis.call('ZRANGEBYSCORE', keys.rows, position, '+inf', 'LIMIT', 0, 1)
  return row[1] and row_of(row[1]) or nil
end

-- Since when (unix s) `position`, who entered the room at `entered_at`, has had the chance to
-- claim: the later of the join and the serving; and later still, if it asked and found no seat, or
-- if nobody could enter for a while.
local function served_since(keys, line, position, entered_at)
  local row = row_for(keys, position)
  local issued = row and row.issued or line.restored_at
  local asked = tonumber(redis.call('ZSCORE', keys.door, position)) or 0
  return math.max(entered_at, math.floor(math.max(issued, asked, line.held_at) / 1000))
end
