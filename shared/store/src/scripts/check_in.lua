--[[ check_in: a batch of visitors is there. Each sets the bit of its own place.

KEYS  line there
ARGV  now_ms reset_epoch | pool band place
Returns  now_ms counted
      pool: "" = the place is a position; otherwise it is a number that waits for the draw of this index.
      counted is nil if the room was reset since; then nothing is counted.
Keeps whatever is sent how often, a visitor counts once, and nobody else is changed; no more than the
      items of one call are looked at.
]]
local now = time_ms(ARGV[1])
local stored = redis.call('HMGET', keys.line, 'reset_epoch', 'queue_counter')
if stored[1] ~= args.reset_epoch then return reply({ now_ms = now }) end
local length = tonumber(stored[2]) or 0
-- Callers sort the items, so those of one key follow each other.
local last, key = {}, nil
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local item = item_at(i)
  local place = tonumber(item.place)
  if place >= 1 and place <= length then
    local chunk = chunk_of(place)
    if not key or last.chunk ~= chunk or last.band ~= item.band or last.pool ~= item.pool then
      local line = item.pool == '' and LINE or pool_name(item.pool)
      key = key_to_set(keys, line, tonumber(item.band), chunk, now, length)
      last = { chunk = chunk, band = item.band, pool = item.pool }
    end
    redis.call('SETBIT', key, place % CHUNK_PLACES, 1)
  end
end
redis.call('HSET', keys.line, 'heard_at', now)
return reply({ now_ms = now, counted = true })
