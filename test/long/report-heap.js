// Loaded into the service by the soak: on SIGUSR2 it prints what is in use once the garbage is gone.
process.on('SIGUSR2', () => {
  globalThis.gc()
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`)
})
