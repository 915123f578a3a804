/** Refuses and records requests that reach no endpoint: the path is unknown, or has only other methods. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'
import { methodNotAllowed, noSuchEndpoint } from '../../core/errors.ts'
import {
  type Area,
  type AreaName,
  type Areas,
  areaOfPath,
  beforeHandler,
  decodedPath,
  type Hook,
  lostIn,
} from './areas.ts'
import type { Route } from './endpoint.ts'
import { fastifyOptions, methodOf } from './fastify.ts'

const NO_ENDPOINT = 'noSuchEndpoint'
const NO_OPERATION = 'methodNotAllowed'

export const WITHOUT_ENDPOINT = [
  { operation: NO_OPERATION, summary: 'A method that the address does not have' },
  { operation: NO_ENDPOINT, summary: 'An address that the API does not have' },
]

/** Refuses these before their body is read. With a good key, unknown paths below `/` and `/v1` are recorded. */
export function createRefuse(app: FastifyInstance, areas: Areas): Hook {
  const findPath = createFindPath(app)
  // In a plugin of its own, because the hooks of the server run for all requests.
  void app.register((plugin, _options, done) => {
    plugin.addHook('onSend', (request, reply, payload, next) => {
      const { recording } = request.withoutEndpoint ?? {}
      if (recording) recording.onSend(request, reply, payload, next)
      else next(null, payload)
    })
    plugin.setNotFoundHandler(() => {
      throw noSuchEndpoint()
    })
    done()
  })

  function unknownPath({ url }: FastifyRequest): Error {
    const path = decodedPath(url)
    if (/^\/v1\/v1(\/|$)/.test(path)) return noSuchEndpoint('twice')
    return noSuchEndpoint(findPath(`/v1${path}`) ? 'missing' : undefined)
  }

  function refuseMethod(request: FastifyRequest, path: Path): Hook {
    const { url, area: name, methods, params, existsIn } = path
    const area = areas[name]
    const recording = area.record?.({ operationId: NO_OPERATION })
    request.withoutEndpoint = { area, route: url, recording }
    request.params = params
    const refuse = beforeHandler(area, (_request, reply) => {
      if (existsIn?.[request.account.behaviour] === false)
        return lostIn(area, request, noSuchEndpoint())
      const allow = methods.join(', ')
      void reply.header('allow', allow)
      return lostIn(area, request, methodNotAllowed(methodOf(request), allow))
    })
    return recording ? recording.onRequest(refuse) : refuse
  }

  function refusePath(request: FastifyRequest): Hook {
    const area = areaOfPath(areas, request)
    const refuse = beforeHandler(area, () =>
      lostIn(area, request, (area.unknown ?? unknownPath)(request)),
    )
    const isOpen = area === areas.open
    const recording =
      isOpen || area === areas.api ? areas.api.record?.({ operationId: NO_ENDPOINT }) : undefined
    request.withoutEndpoint = { area, recording }
    if (!recording) return refuse
    return recording.onRequest(isOpen ? afterIdentifying(areas, refuse) : refuse)
  }

  return (request, reply, done) => {
    const path = findPath(request.url)
    const refuse = path ? refuseMethod(request, path) : refusePath(request)
    refuse(request, reply, done)
  }
}

export const areaOf = (areas: Areas, request: FastifyRequest): Area =>
  request.withoutEndpoint?.area ?? areaOfPath(areas, request)

type Path = {
  url: string
  area: AreaName
  methods: string[]
  existsIn: Route['existsIn']
  params: Record<string, string | undefined>
}

/** Finds the path of a URL, whatever its method, with a router that it makes at its first call. */
function createFindPath(app: FastifyInstance): (url: string) => Path | undefined {
  const paths = new Map<string, Omit<Path, 'params'>>()
  app.addHook('onRoute', ({ url, method, config }) => {
    const path = paths.get(url) ?? {
      url,
      area: config?.area ?? 'open',
      methods: [],
      existsIn: config?.existsIn,
    }
    path.methods.push(...(method === 'GET' ? ['GET', 'HEAD'] : [method].flat()))
    paths.set(url, path)
  })
  let router: findMyWay.Instance<findMyWay.HTTPVersion.V1> | undefined
  return url => {
    if (!router) {
      router = findMyWay(fastifyOptions.routerOptions)
      for (const path of paths.values()) router.on('GET', path.url, () => {}, path)
    }
    const found = router.find('GET', url)
    return found?.store && { ...found.store, params: found.params }
  }
}

/** Sets the account of a good key for a request that needs no key. Without a good key nothing changes. */
const afterIdentifying =
  ({ api }: Areas, next: Hook): Hook =>
  (request, reply, done) => {
    const goOn = () => next(request, reply, done)
    const identified = request.headers.authorization && api.authenticate?.(request)
    if (identified) identified.then(goOn, goOn)
    else goOn()
  }
