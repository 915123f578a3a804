import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from '../core/config.ts'
import { controlIsOff } from '../core/errors.ts'
import type { Ports } from '../core/ports.ts'
import { changedIn, createSignals } from '../core/signal.ts'
import { createSlots } from '../core/slots.ts'
import { createPause, createReading, ownTurn } from '../core/turns.ts'
import { agreementEndpoints } from '../pay/agreements/routes.ts'
import { lostError } from '../pay/differences/errors.ts'
import { disputeEndpoints } from '../pay/disputes/routes.ts'
import { pageArea, pageEndpoints } from '../pay/hosted/routes.ts'
import type { ScenariosOf } from '../pay/payments/commands.ts'
import { doAllDue, doDueOf } from '../pay/payments/due-steps.ts'
import { paymentIn } from '../pay/payments/response.ts'
import { paymentEndpoints } from '../pay/payments/routes.ts'
import { refundEndpoints } from '../pay/refunds/routes.ts'
import { allRefundsOf } from '../pay/refunds/store.ts'
import { createRefusals, type Refusals } from '../pay/refusals.ts'
import type { RawAttempt } from '../pay/webhooks/attempts.ts'
import { createDeliveries } from '../pay/webhooks/deliver.ts'
import { webhookEndpoints } from '../pay/webhooks/routes.ts'
import { createAuthenticate } from '../platform/accounts/bearer.ts'
import { givingWay } from '../platform/database/give-way.ts'
import type { Area, Areas, Recorded } from '../platform/http/areas.ts'
import { wrongMediaTypeOf } from '../platform/http/body.ts'
import { registerRoutes } from '../platform/http/endpoint.ts'
import { sendApiError } from '../platform/http/errors.ts'
import { healthEndpoints } from '../platform/http/health.ts'
import { createLimits } from '../platform/http/limits.ts'
import { decorateRequests } from '../platform/http/request-state.ts'
import {
  createLazyApp,
  createServer,
  isLostInBrowser,
  setApiHeaders,
} from '../platform/http/server.ts'
import { assetEndpoints } from '../platform/web/assets.ts'
import type { ToolContext } from '../tools/context.ts'
import { withListeners } from '../tools/deliver/listeners.ts'
import { createFactWriter } from '../tools/explain/check/production.ts'
import { createPlans } from '../tools/plans/faults.ts'
import { LAST_PLAN_SQL } from '../tools/plans/store.ts'
import { createRecorder } from '../tools/record/recorder.ts'
import type { FactWriter } from '../tools/record/row.ts'
import { createMinuteCounts } from '../tools/record/traffic-store.ts'
import { createWatch } from '../tools/watch.ts'
import type { Chapters } from './docs/openapi.ts'
import { docsEndpoints } from './docs/routes.ts'

export type App = Awaited<ReturnType<typeof createApp>>

/** The server does not listen yet. `watch` gets it before its routes, to add hooks. */
export async function createApp(
  real: Ports,
  config: Config,
  logger?: FastifyBaseLogger,
  watch?: (server: FastifyInstance) => void,
) {
  const stopping = new AbortController()
  const isStopping = () => stopping.signal.aborted
  const { context, ...parts } = partsOf(real, config, logger, isStopping)
  const { deliveries, recorder, signals } = context
  const areas = createAreas(context, parts)
  const onToolsFault = (error: unknown) =>
    logger?.error({ err: error }, 'the tools could not start')
  const lazyApp = createLazyApp(['/control', '/console'], makeTools, onToolsFault)
  const server = createServer(logger?.child({}), areas, { lazyApp })
  const limits = createLimits(server, stopping)
  function prepare(app: FastifyInstance): void {
    decorateRequests(app)
    watch?.(app)
    limits.watch(app)
  }
  prepare(server)
  const chapters = chaptersOf(context, parts)
  const described = Object.values(chapters).flat()
  const operations = described.filter(({ area }) => areas[area].record)
  registerRoutes(server, described, areas, limits)

  async function makeTools(): Promise<FastifyInstance> {
    const { createTools } = await import('./tools.ts')
    const tools = await createTools(context, { areas, operations, stopped: isStopping })
    const app = createServer(logger?.child({}), tools.areas, tools)
    prepare(app)
    const pause = createPause()
    for (const route of tools.routes) {
      registerRoutes(app, [route], tools.areas, limits)
      await pause()
    }
    await ownTurn()
    return app
  }
  return {
    server,
    deliveries,
    limits,
    recorder,
    signals,
    doAllDue: (stop?: AbortSignal) => doAllDue(context, stop),
  }
}

type Parts = Omit<ReturnType<typeof partsOf>, 'context'>

/** The parts with which the endpoints work. Each is made of the parts before it. */
function partsOf(
  real: Ports,
  config: Config,
  logger: FastifyBaseLogger | undefined,
  isStopping: () => boolean,
) {
  const { onFault, onAttempt, onRuleFault } = linesOf(logger)
  const signals = createSignals()
  const onChange = (room: string) => signals.set(changedIn(room))
  const recorder = recorderOf(
    { ...real, factWriter: createFactWriter(onRuleFault), onRecorded: onChange },
    config,
    logger,
  )
  const database = recorder ? givingWay(real.database, recorder.giveWay) : real.database
  const ports = { ...real, database }
  const watch = createWatch({ ...ports, signals })
  const plans = config.control ? createPlans({ ...ports, signals, watch }, isStopping) : undefined
  const send = withListeners(ports.send, { ...ports, signals, watch })
  const deliveries = createDeliveries({
    ...ports,
    send,
    onFault,
    onAttempt,
    onChange,
    record: recorder?.attempt,
    isStopping,
    postpone: plans?.postpone,
  })
  const refused = createMinuteCounts(ports.time.wall)
  const context: ToolContext = {
    ...ports,
    send,
    config,
    deliveries,
    recorder,
    reading: createReading(),
    listening: createSlots(1, Infinity),
    refusedKeys: refused.sum,
    onRuleFault,
    signals,
    watch,
  }
  const refusals = createRefusals(ports.time.wall)
  return { context, plans, onRefused: refused.count, refusals, isStopping }
}

/** All endpoints outside the tools, by their chapter of the documentation. */
function chaptersOf(context: ToolContext, { plans, refusals, isStopping }: Parts): Chapters {
  const scenariosOf: ScenariosOf = plans?.scenariosOf ?? (() => undefined)
  const chapters: Chapters = {
    Payments: paymentEndpoints(context, scenariosOf, allRefundsOf, refusals),
    Refunds: refundEndpoints(context, scenariosOf),
    Agreements: agreementEndpoints(context),
    Disputes: disputeEndpoints(context),
    Webhooks: webhookEndpoints(context, paymentIn),
    'Hosted pages': [...pageEndpoints(context), ...assetEndpoints()],
    'About this service': [
      ...docsEndpoints(context, () => chapters),
      ...healthEndpoints(context, isStopping),
    ],
  }
  return chapters
}

const linesOf = (logger?: FastifyBaseLogger) => ({
  onFault: (error: unknown) => logger?.error({ err: error }, 'a delivery could not be recorded'),
  /** Logs nothing that the receiver wrote, such as a reason phrase, and of its address only the host. */
  onAttempt({ event_type, payment_id, webhook_id, url, status, result, ms }: RawAttempt) {
    const callback_host = new URL(url).host
    const answer = status ?? result
    logger?.info(
      { event_type, payment_id, webhook_id, callback_host, result: answer, ms },
      `${event_type} to ${callback_host}: ${answer}, ${ms} ms`,
    )
  },
  onRuleFault: (error: unknown) => logger?.warn({ err: error }, 'the check could not judge all'),
})

function recorderOf(
  ports: Ports & { factWriter: FactWriter; onRecorded: (room: string) => void },
  config: Config,
  logger?: FastifyBaseLogger,
) {
  if (!config.console && !config.control) return undefined
  return createRecorder({
    ...ports,
    secrets: [...config.fixedKeys.map(({ key }) => key), config.fixedWebhook?.signing_key],
    isTestAccount: ({ parent }) => parent !== null,
    most: config.recordMax,
    isShared: config.database.kind === 'postgres',
    onFault: error => logger?.warn({ err: error }, 'requests could not be recorded'),
  })
}

/** One row for each kind of endpoint. While control or the console is off, its paths are unknown paths. */
function createAreas(context: ToolContext, { plans, onRefused, refusals }: Parts): Areas {
  const { config, recorder } = context
  const lastPlanSql = config.control ? LAST_PLAN_SQL : undefined
  const known = createAuthenticate(context, { lastPlanSql, onRefused })
  /** Also takes the due steps of the account's payments. If the request is about one payment, its handler does so. */
  const authenticate: Area['authenticate'] = request => {
    const owed = () =>
      request.routeOptions.url?.includes(':payment_id')
        ? undefined
        : doDueOf(context, request.account)
    const authenticated = known(request)
    return authenticated ? authenticated.then(owed) : owed()
  }
  const json = { setHeaders: setApiHeaders, sendError: sendApiError }
  const page = pageArea(context)
  const sendError: Area['sendError'] = (error, request, reply) =>
    isLostInBrowser(request)
      ? page.sendError(error, request, reply)
      : sendApiError(error, request, reply)
  const plain = { setHeaders: () => {}, sendError }
  const record = (kind: 'api' | 'page') => (recorded: Recorded) => recorder?.hooks(kind, recorded)
  const plan = plans?.hooks
  /** A request without a good key, and a request to /v1/auth, has no account whose behaviour is known. */
  const lost: Area['lost'] = ({ account, withoutEndpoint }, usual) => {
    const isCard = withoutEndpoint?.route === '/v1/auth'
    const behaviour = account?.behaviour ?? (isCard ? config.behaviour : 'specification')
    return lostError[behaviour](usual)
  }
  const unknown = config.control ? undefined : controlIsOff
  const ofApi = { ...json, prefix: '/v1', record: record('api'), plan, lost }
  const off = { ...plain, prefix: '/console' }
  return {
    api: { ...ofApi, authenticate, refuse: refusing(refusals) },
    token: ofApi,
    pages: { ...page, prefix: '/secure', record: record('page'), plan },
    control: {
      ...(recorder ? { ...json, authenticate } : plain),
      prefix: '/control',
      unknown,
    },
    // While the console is on, tools.ts replaces these two.
    console: off,
    'sign-in': off,
    open: { ...plain, prefix: '', lost },
    health: { ...plain, prefix: '', isUncounted: true },
  }
}

/** The error for a wrong media type, or for a request that the behaviour of the account refuses. */
const refusing =
  (refusals: Refusals): NonNullable<Area['refuse']> =>
  (request, accepts) => {
    const { account } = request
    const wrongType = accepts && wrongMediaTypeOf(request, accepts)
    return wrongType ?? refusals[account.behaviour]?.({ request, accepts, account })
  }
