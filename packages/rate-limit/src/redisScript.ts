/** `spend` in Redis: the same arithmetic on one key, by the server's clock unless a time is given. */
export const SCRIPT = `local limit,unit,leak,window=string.match(ARGV[1],':(%d+):(%d+):(%d+):(%d+)$')
limit,leak,window=limit*unit,tonumber(leak),tonumber(window)
local units,now=tonumber(ARGV[2]),tonumber(ARGV[3])
if not now then local t=redis.call('TIME') now=t[1]*1000+math.floor(t[2]/1000) end
local used,at=0,now
local u,a=string.match(redis.call('GET',KEYS[1]) or '','^(%d+) (%d+)$')
if u then
u,a=tonumber(u),tonumber(a)
if a>now and a-now<=window then at=a end
if leak>0 then used=math.max(0,u-math.min(math.max(0,at-a),window)*leak)
elseif math.floor(at/window)<=math.floor(a/window) then used=u end
end
local allowed=0
if used+units<=limit then used=used+units allowed=1 end
if used>0 then redis.call('SET',KEYS[1],string.format('%.0f %.0f',used,at),'PX',string.format('%.0f',at-now+window))
elseif u then redis.call('DEL',KEYS[1]) end
return {allowed,used,at,now}`

/** The name by which Redis knows the script, as `sha1sum` prints it. */
export const SCRIPT_SHA1 = "30815c41aef583298fa3e598ca95a404ce61da36"
