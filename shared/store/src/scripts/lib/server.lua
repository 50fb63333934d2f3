-- The server process that runs the script.

-- Its run_id, and whether it is one of a Cluster. A user of the server may not be allowed to ask: then it is ''.
local function read_server()
  local info = redis.pcall('INFO', 'server')
  if type(info) ~= 'string' then return '', false end
  return string.match(info, 'run_id:(%x+)') or '', string.find(info, '_mode:cluster', 1, true) ~= nil
end
