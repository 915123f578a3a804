/** Imported first into each process of tests. Removes settings of Farthing, git, colours and other programs. */
const FOREIGN =
  /^(FORCE_COLOR|NO_COLOR|GIT_.*|PG.*|FARTHING_(?!TEST_).*|PORT|HOST|DATABASE_URL|LOG_LEVEL|NODE_(DEBUG|OPTIONS))$/

for (const name of Object.keys(process.env)) if (FOREIGN.test(name)) delete process.env[name]
Object.assign(process.env, { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
