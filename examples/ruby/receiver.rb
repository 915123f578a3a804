# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'openssl'

# Receives the webhook messages of GOV.UK Pay, each once. A Rack application for Ruby 3.0 or newer: config.ru starts it,
# and in Rails `mount Receiver.new(ENV['SIGNING_KEY'], 'messages') { |message| ... } => '/webhooks'` does.
#
# The folder keeps which messages came. With several machines use a table with a unique column instead, in the
# transaction of what the block does.
class Receiver
  MOST_BYTES = 1_000_000

  # The body as it arrived, byte for byte, and the header Pay-Signature.
  def self.signed?(body, pay_signature, signing_key)
    return false if signing_key.empty?

    OpenSSL.secure_compare(OpenSSL::HMAC.hexdigest('SHA256', signing_key, body), pay_signature)
  end

  # The block gets each message.
  def initialize(signing_key, folder, &handle)
    raise ArgumentError, 'SIGNING_KEY is not set, and without it anybody could sign messages' if signing_key.to_s.empty?

    @signing_key = signing_key
    @folder = FileUtils.mkdir_p(folder).first
    @handle = handle
  end

  def call(env)
    [receive(env), { 'content-length' => '0' }, []]
  end

  private

  def receive(env)
    return 405 unless env['REQUEST_METHOD'] == 'POST'

    body = env['rack.input'].read(MOST_BYTES + 1) || ''
    return 413 if body.bytesize > MOST_BYTES
    return 401 unless Receiver.signed?(body, env['HTTP_PAY_SIGNATURE'].to_s, @signing_key)

    message = message_of(body)
    return 400 unless message

    handle_once(message)
    200
  end

  # nil if it is none.
  def message_of(body)
    message = JSON.parse(body)
    message if /\A[0-9a-z]{1,64}\z/.match?(message['webhook_message_id'])
  rescue JSON::ParserError, EncodingError, TypeError, NoMethodError
    nil
  end

  def handle_once(message)
    name = File.join(@folder, message['webhook_message_id'])
    File.new(name, File::CREAT | File::EXCL).close
    begin
      @handle.call(message)
    rescue Exception # rubocop:disable Lint/RescueException
      File.delete(name) # The next attempt may succeed.
      raise
    end
  rescue Errno::EEXIST
    # It came before: each message is tried more than once.
  end
end
