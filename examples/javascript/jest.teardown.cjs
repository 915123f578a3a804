module.exports = () => globalThis.farthing.stop()
