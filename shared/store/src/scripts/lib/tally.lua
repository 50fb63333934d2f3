-- Counts who is there, chunk by chunk. Needs lib/bitmaps and lib/presence. What the leader makes of it is
-- `presence::tally` in the domain crate.

-- Per block of a chunk: visitors who are there; AWS-style ones who are not known to be; those of them who
-- are (`polling`); places that are over.
-- In a pool, whose places come with the draw, whoever gave up is over; and who is before its first number is in line,
-- though that one may have waited for a draw that did not take place.
local function count_chunk(keys, line, chunk, length, now, near, first)
  local checked_in, both, polls = keys.scratch .. ':1', keys.scratch .. ':2', keys.scratch .. ':3'
  local unattended = chunk_key(keys.unattended, chunk)
  local over = chunk_key(line == LINE and keys.entered or gone_from_pools(keys), chunk)
  redis.call('BITOP', 'OR', checked_in, unpack(live_keys(keys, line, chunk, now)))
  local has_over = redis.call('BITOP', 'AND', both, checked_in, over) > 0
  local has_unattended = redis.call('BITOP', 'AND', polls, checked_in, unattended) > 0
  local counted = { chunk = chunk, there = {}, unattended = {}, polling = {}, over = {} }
  local last = math.min(length - chunk * CHUNK_PLACES, CHUNK_PLACES - 1)
  for block = 0, math.floor(last / BLOCK_PLACES) do
    local from, last_bit = block * BLOCK_PLACES, (block + 1) * BLOCK_PLACES - 1
    from = math.max(from, math.min((first or 0) - chunk * CHUNK_PLACES, last_bit + 1))
    local function count(key)
      return from > last_bit and 0 or redis.call('BITCOUNT', key, from, last_bit, 'BIT')
    end
    local n = block + 1
    counted.there[n] = count(checked_in) - (has_over and count(both) or 0)
    counted.over[n] = has_over and count(over) or 0
    counted.polling[n] = has_unattended and count(polls) or 0
    counted.unattended[n] = has_unattended and count(unattended) - counted.polling[n] or 0
  end
  for _, bits in ipairs(near) do
    local from = (bits.block % BLOCKS) * BLOCK_PLACES / 8
    local function read(key) return redis.call('GETRANGE', key, from, from + BLOCK_PLACES / 8 - 1) end
    bits.checked_in, bits.unattended, bits.over = read(checked_in), read(unattended), read(over)
  end
  redis.call('UNLINK', checked_in, both, polls)
  return counted
end

-- The blocks of the line that are read bit by bit: that of the place after the serving counter, and the next; and while
-- some of those who were served a moment ago stand in the one before, that one.
local function near_blocks(line)
  local next_place = math.max(line.serving_counter, 0) + 1
  local block = math.floor(next_place / BLOCK_PLACES)
  local first = math.floor(math.max(next_place - BLOCK_PLACES / 4, 0) / BLOCK_PLACES)
  local blocks = {}
  for b = first, math.min(block + 1, math.floor(line.queue_counter / BLOCK_PLACES)) do
    blocks[#blocks + 1] = { block = b }
  end
  return blocks
end

-- Whether nobody can be in line: every number has entered, left or expired. Counts of a restored room may be
-- too high, so this holds only where the counter has reached everyone.
local function nobody_waits(line)
  local over = line.admitted + line.left + line.expired + line.skipped
  return math.max(line.serving_counter, 0) >= line.queue_counter and over >= line.queue_counter
end

-- Counts these chunks (as texts) of the line, and those of the near blocks; returns the counts and the near
-- blocks.
local function count_line(keys, line, chunks, now)
  if nobody_waits(line) then return {}, {} end
  local near, wanted, counted = near_blocks(line), {}, {}
  for _, bits in ipairs(near) do
    local chunk = math.floor(bits.block / BLOCKS)
    wanted[chunk] = wanted[chunk] or {}
    table.insert(wanted[chunk], bits)
  end
  for _, chunk in ipairs(chunks) do
    chunk = tonumber(chunk)
    wanted[chunk] = wanted[chunk] or {}
  end
  for chunk, bits in pairs(wanted) do
    if chunk <= chunk_of(line.queue_counter) then
      counted[#counted + 1] = count_chunk(keys, LINE, chunk, line.queue_counter, now, bits)
    end
  end
  return counted, near
end

-- Counts these chunks of the pool that waits for a draw.
local function count_pool(keys, line, chunks, now)
  local counted = {}
  for _, text in ipairs(chunks) do
    local chunk = tonumber(text)
    if chunk <= chunk_of(line.queue_counter) then
      counted[#counted + 1] =
        count_chunk(keys, pool_name(line.draw_count), chunk, line.queue_counter, now, {}, line.pool_first)
    end
  end
  return counted
end
