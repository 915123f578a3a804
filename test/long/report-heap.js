// soak.ts loads this into the service: on SIGUSR2 it collects garbage and prints the used heap.
process.on('SIGUSR2', () => {
  globalThis.gc()
  process.stdout.write(`heap ${process.memoryUsage().heapUsed}\n`)
})
