--[[ check_in: a batch of visitors is there. Each sets the bit of its own place.

KEYS  line there
ARGV  now_ms seen reset_epoch | pool band place
Returns  now_ms counted
      pool: "" = the place is a position; otherwise it is a number that waits for the draw of this index.
      A caller that has not heard of a pool yet takes its numbers for positions; they are counted there.
      counted is nil if the room was reset since; then nothing is counted.
Keeps whatever is sent how often, a visitor counts once, and nobody else is changed; no more than the
      items of one call are looked at.
]]
local stored = redis.call('HMGET', keys.line, 'reset_epoch', 'queue_counter', 'pool_first', 'pool_last',
  'draw_count')
if stored[1] ~= args.reset_epoch then return seal(reply({ now_ms = now })) end
local length, draws = tonumber(stored[2]) or 0, tonumber(stored[5]) or 0
local pool_first, pool_last = tonumber(stored[3]) or 0, tonumber(stored[4]) or 0
-- Nobody in a pool has a position: it comes with the draw.
local pool_ends = pool_last > 0 and pool_last or length
local function is_pooled(place) return pool_first > 0 and place >= pool_first and place <= pool_ends end
-- Callers sort the items, so those of one key follow each other.
local last, key = {}, nil
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local item = item_at(i)
  local place = tonumber(item.place)
  if place >= 1 and place <= length then
    local chunk = chunk_of(place)
    if item.pool == '' and is_pooled(place) then item.pool = draws end
    if not key or last.chunk ~= chunk or last.band ~= item.band or last.pool ~= item.pool then
      local line = item.pool == '' and LINE or pool_name(item.pool)
      key = key_to_set(keys, line, tonumber(item.band), chunk, now, length)
      last = { chunk = chunk, band = item.band, pool = item.pool }
    end
    redis.call('SETBIT', key, place % CHUNK_PLACES, 1)
  end
end
redis.call('HSET', keys.line, 'heard_at', now)
return seal(reply({ now_ms = now, counted = true }))
