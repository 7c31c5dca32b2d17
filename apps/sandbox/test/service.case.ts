// A service that runs until it is stopped, or exits immediately.
process.stdout.write(`started ${process.pid}\n`)
if (process.env["ENDS"]) process.exit(3)
setInterval(() => {}, 1000)
