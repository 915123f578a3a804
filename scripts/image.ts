/** A container image for two kinds of processors, as an archive of an OCI image layout. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Architecture } from './image-libraries.ts'
import { type Entry, tar } from './tar.ts'

type Descriptor = { mediaType: string; digest: string; size: number }

const TYPE = 'application/vnd.oci.image'
/** The number of the user: that of `node` in Node's own images. */
const USER = 1000

const system = (architecture: Architecture, libraries: Entry[]): Entry[] => [
  { name: 'lib', link: 'usr/lib' },
  ...(architecture === 'amd64' ? [{ name: 'lib64', link: 'usr/lib64' }] : []),
  { name: 'tmp', isFolder: true, mode: 0o1777 },
  { name: 'data', isFolder: true, mode: 0o700, owner: USER },
  {
    name: 'etc/passwd',
    content: `root:x:0:0::/:/sbin/nologin\nfarthing:x:${USER}:${USER}::/data:/sbin/nologin\n`,
  },
  { name: 'etc/group', content: `root:x:0:\nfarthing:x:${USER}:\n` },
  { name: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
  ...libraries,
]

const SECOND = 1_000_000_000

const settings = {
  User: `${USER}:${USER}`,
  Env: ['PATH=/usr/local/bin', 'HOST=0.0.0.0', 'DATABASE_URL=sqlite:/data/farthing.db'],
  Entrypoint: ['farthing'],
  // OCI has no health check. Docker reads this one.
  Healthcheck: {
    Test: ['CMD', 'farthing', 'ready'],
    Interval: 10 * SECOND,
    Timeout: 10 * SECOND,
    StartPeriod: 10 * SECOND,
  },
  WorkingDir: '/data',
  ExposedPorts: { '3000/tcp': {} },
  Volumes: { '/data': {} },
  StopSignal: 'SIGTERM',
}

/** The labels of the Containerfile, which a test compares with these, and the version. */
export const labels = (version: string) => ({
  'org.opencontainers.image.title': 'farthing',
  'org.opencontainers.image.description':
    "A stand-in for GOV.UK Pay's public API that keeps real state",
  'org.opencontainers.image.licenses': 'MIT',
  'org.opencontainers.image.version': version,
})

/** `executables` are paths. Returns the archive, which has the same bytes for the same files. */
export function imageArchive(
  version: string,
  executables: Record<Architecture, string>,
  libraries: Record<Architecture, Entry[]>,
  licences: string,
): Buffer {
  const blobs = new Map<string, Buffer>()
  const keep = (mediaType: string, bytes: Buffer): Descriptor => {
    const hash = createHash('sha256').update(bytes).digest('hex')
    blobs.set(`blobs/sha256/${hash}`, bytes)
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length }
  }
  const keepJson = (mediaType: string, value: object) =>
    keep(mediaType, Buffer.from(JSON.stringify(value)))

  function manifestOf(architecture: Architecture) {
    const farthing: Entry[] = [
      {
        name: 'usr/local/bin/farthing',
        content: readFileSync(executables[architecture]),
        mode: 0o755,
      },
      { name: 'usr/share/doc/farthing/licences.txt', content: licences },
    ]
    const layers = [system(architecture, libraries[architecture]), farthing].map(tar)
    const config = keepJson(`${TYPE}.config.v1+json`, {
      architecture,
      os: 'linux',
      config: { ...settings, Labels: labels(version) },
      rootfs: {
        type: 'layers',
        diff_ids: layers.map(layer => `sha256:${createHash('sha256').update(layer).digest('hex')}`),
      },
    })
    const manifest = keepJson(`${TYPE}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config,
      layers: layers.map(layer => keep(`${TYPE}.layer.v1.tar+gzip`, gzipSync(layer))),
    })
    return { ...manifest, platform: { architecture, os: 'linux' } }
  }

  const index = keepJson(`${TYPE}.index.v1+json`, {
    schemaVersion: 2,
    mediaType: `${TYPE}.index.v1+json`,
    manifests: [manifestOf('amd64'), manifestOf('arm64')],
  })
  const annotations = {
    'org.opencontainers.image.ref.name': version,
    // The name that podman and docker give to an image that they load from an archive.
    'io.containerd.image.name': `localhost/farthing:${version}`,
  }
  const named = { ...index, annotations }
  const top = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: [named] }
  return tar([
    { name: 'oci-layout', content: JSON.stringify({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', content: JSON.stringify(top) },
    ...[...blobs].map(([name, content]) => ({ name, content })),
  ])
}
