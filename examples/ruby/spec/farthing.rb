# frozen_string_literal: true

require 'io/wait'
require 'json'
require 'net/http'
require 'puma'
require 'puma/server'
require 'securerandom'
require 'tmpdir'
require_relative '../receiver'

# FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the hosts of your
# service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program `farthing`, or
# the one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host of the tests as
# Farthing reaches it, if that is not 127.0.0.1.
class Farthing
  SECONDS = 15
  SECONDS_TO_START = 20
  HOST = ENV.fetch('FARTHING_RECEIVER_HOST', '127.0.0.1')
  HOSTS = "localhost,127.0.0.1,#{HOST}" # Over http, with any port.
  SETTINGS = { 'PORT' => '0', 'HOST' => '127.0.0.1', 'DATABASE_URL' => 'sqlite::memory:', 'LOG_LEVEL' => 'warn',
               'FARTHING_CONTROL' => 'true', 'FARTHING_CALLBACK_HOSTS' => HOSTS,
               'FARTHING_RETURN_HOSTS' => HOSTS }.freeze
  GET_IT = 'Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci.'

  class << self
    # The Farthing of all tests, with the key that may make accounts.
    attr_reader :shared

    def start
      @shared = ENV['FARTHING_URL'] ? new(URI(ENV['FARTHING_URL']), ENV.fetch('FARTHING_API_KEY')) : start_program
    end

    private

    def start_program
      key = SecureRandom.hex
      output = IO.popen([SETTINGS.merge('FARTHING_API_KEY' => key), ENV.fetch('FARTHING', 'farthing')])
      at_exit { Process.kill('TERM', output.pid) && output.close }
      first = output.gets if output.wait_readable(SECONDS_TO_START) # Farthing is listening on http://127.0.0.1:41231
      raise "Farthing did not start: #{first}" unless first&.include?(' is listening on ')

      new(URI(first.split.last), key)
    rescue SystemCallError => e
      raise "#{e.message}. #{GET_IT}"
    end
  end

  # For your service.
  attr_reader :url, :key

  def initialize(url, key)
    @url = url
    @key = key
  end

  # An account that shares nothing with another test and answers as GOV.UK Pay does, for the time of the block.
  def with_account
    made = ask('POST', '/control/accounts', { behaviour: 'govuk-pay' }, expect: 201)
    yield Farthing.new(@url, made['key'])
  ensure
    ask('DELETE', "/control/accounts/#{made['account']}", expect: 204) if made
  end

  # The messages, as your receiver hands them on, for the time of the block.
  def with_receiver
    messages = []
    Dir.mktmpdir do |folder|
      server = start_receiver(folder) { |message| messages << message }
      yield messages
    ensure
      server&.stop(true)
    end
  end

  # Returns the JSON of the response. Any other status than expected is an error.
  def ask(method, path, body = nil, expect: 200)
    # One recurring payment for each key.
    key = body && body[:authorisation_mode] == 'agreement' ? { 'Idempotency-Key' => SecureRandom.hex } : {}
    response = send_request(method, path, body && JSON.generate(body), key)
    raise "#{method} #{path}: expected #{expect}, got #{response.code} #{response.body}" if response.code != expect.to_s

    JSON.parse(response.body) unless response.body.to_s.empty?
  end

  private

  def start_receiver(folder, &handle)
    receiver = nil
    server = Puma::Server.new(->(env) { receiver.call(env) })
    port = server.add_tcp_listener(HOST == '127.0.0.1' ? HOST : '0.0.0.0', 0).addr[1]
    webhook = ask('POST', '/control/webhooks', { callback_url: "http://#{HOST}:#{port}/" }, expect: 201)
    receiver = Receiver.new(webhook['signing_key'], folder, &handle)
    server.tap(&:run)
  end

  def send_request(method, path, body, more)
    options = { max_retries: 0, open_timeout: SECONDS, read_timeout: SECONDS, use_ssl: @url.scheme == 'https' }
    headers = { 'Authorization' => "Bearer #{@key}", 'Content-Type' => 'application/json', **more }
    Net::HTTP.start(@url.host, @url.port, options) { |http| http.send_request(method, path, body, headers) }
  end
end

RSpec.configure { |config| config.before(:suite) { Farthing.start } }
