import { RUBY_LINKS } from "./ruby-links.ts";
import { RUBY_RENDER } from "./ruby-render.ts";

/**
 * The Ruby program that renders templates: the same source runs in the built-in WebAssembly Ruby and in a system one. It takes a
 * job as JSON and returns JSON, one answer for each template, so that one failing template hides no other.
 */
export const RUBY_PROGRAM = `
require "base64"
require "erb"
require "json"
require "ostruct"
require "shellwords"
require "time"
require "yaml"

# A Director in Ruby has loaded these for itself: templates use them without asking for them.
{
  Date: "date", DateTime: "date", Digest: "digest", IPAddr: "ipaddr", OpenSSL: "openssl", Pathname: "pathname",
  SecureRandom: "securerandom", Set: "set", StringIO: "stringio", Tempfile: "tempfile", URI: "uri"
}.each { |name, file| Object.autoload(name, file) unless Object.const_defined?(name, false) }

class Object
  def blank?
    respond_to?(:empty?) ? !!empty? : !self
  end

  def present?
    !blank?
  end
end

class NilClass
  def blank? = true
end

class FalseClass
  def blank? = true
end

class TrueClass
  def blank? = false
end

class Numeric
  def blank? = false
end

class String
  def blank?
    strip.empty?
  end
end

# In WebAssembly a jump out of a block (return, break, raise) costs about as much as a hundred calls, and a block that a method
# of C calls as much as ten: here are none where templates spend their time.
module SlipwayTemplates
  # What upstream's templates know as an OpenStruct, without the methods that it makes for every field of every object.
  class Fields < OpenStruct
    OF_EVERY_OBJECT = public_instance_methods.to_h { |name| [name, true] }.freeze

    # Values become Fields when they are asked for: a template asks for few of them.
    def initialize(fields)
      @table = {}
      @rest = fields.transform_keys(&:to_sym)
      names = @rest.keys
      at = 0
      while at < names.size
        define_field(names[at]) if OF_EVERY_OBJECT.key?(names[at])
        at += 1
      end
    end

    def method_missing(name, *given)
      return field(name) if given.empty? && !name.end_with?("=")
      complete
      super
    end

    def respond_to_missing?(name, all = false)
      return true if (@rest || @table).key?(name)
      complete
      super
    end

    # What else an OpenStruct does with its table sees all of it, in the order in which it was given.
    %i[[] []= == dig each_pair to_h delete_field eql? hash inspect to_s freeze marshal_dump encode_with
       table initialize_clone initialize_dup].flat_map { |name| [name, :"#{name}!"] }.each do |name|
      next unless method_defined?(name) || private_method_defined?(name)
      shown = %i[public protected private].find { |kind| send(:"#{kind}_method_defined?", name) }
      define_method(name) do |*given, &block|
        complete
        super(*given, &block)
      end
      send(shown, name)
    end

    # Old templates ask for the names of an instance's networks by methods(false).
    def methods(all = true)
      all ? super : to_h.keys
    end

    private

    def define_field(name)
      define_singleton_method!(name) { field(name) }
    end

    def field(name)
      return @table[name] if @rest.nil? || @table.key?(name)
      @table[name] = SlipwayTemplates.fields(@rest[name]) if @rest.key?(name)
    end

    def complete
      return if @rest.nil?
      @table = @rest.to_h { |name, value| [name, @table.fetch(name) { SlipwayTemplates.fields(value) }] }
      @rest = nil
    end
  end

  def self.fields(value)
    case value
    when Hash then Fields.new(value)
    when Array then value.map { |one| fields(one) }
    else value
    end
  end

  # Rubies before 3.3 tell the value that was asked, which may be a secret. As later ones, only of what kind it is.
  def self.words(error)
    text = error.to_s
    return text unless error.is_a?(NameError)
    begin
      asked = error.receiver
    rescue ArgumentError
      return text
    end
    kind =
      case asked
      when nil, true, false then asked.inspect
      when Class then "class #{asked}"
      when Module then "module #{asked}"
      else "an instance of #{asked.class}"
      end
    text.sub(/ for .*\\z/m, " for #{kind}")
  end

  # The value under a dotted name, or nil.
  def self.lookup(properties, name)
    keys = name.to_s.split(".")
    at = 0
    while at < keys.size
      return nil unless properties.is_a?(Hash)
      properties = properties[keys[at]]
      at += 1
    end
    properties
  end

  module Properties
    NOT_GIVEN = Object.new

    def p(names, default = NOT_GIVEN)
      all = Array(names)
      found = nil
      at = 0
      while found.nil? && at < all.size
        found = SlipwayTemplates.lookup(property_source, all[at])
        at += 1
      end
      return found unless found.nil?
      return default unless default.equal?(NOT_GIVEN)
      unknown_property(all)
    end

    def if_p(*names)
      values = names.map { |name| SlipwayTemplates.lookup(property_source, name) }
      return Otherwise.new(self) if values.any?(&:nil?)
      yield(*values)
      Done.new
    end

    private

    def property_source = @raw_properties

    def unknown_property(names)
      raise UnknownProperty, "Can't find property '#{names.inspect}'"
    end
  end

  # What follows an if_p or if_link that did not hold.
  class Otherwise
    def initialize(context)
      @context = context
    end

    def else
      yield
    end

    def else_if_p(*names, &block)
      @context.if_p(*names, &block)
    end

    def else_if_link(name, &block)
      @context.if_link(name, &block)
    end
  end

  # What follows one that did.
  class Done
    def else; end

    def else_if_p(*)
      self
    end

    def else_if_link(*)
      self
    end
  end

  class UnknownProperty < StandardError; end
  class UnknownLink < StandardError; end

  # Most templates ask for neither, and they take longer to make than to use.
  module Described
    def properties
      @properties ||= SlipwayTemplates.fields(@raw_properties)
    end

    def spec
      @spec ||= SlipwayTemplates.fields(@given)
    end

    # No value of it.
    def inspect
      "#<#{self.class}>"
    end
  end

${RUBY_LINKS}  # What a template of a Director's deployment sees.
  class DirectorContext
    include Properties
    include Described
    attr_reader :name, :index, :raw_properties

    def initialize(given)
      @given = given
      @name = (given["job"] || {})["name"]
      @index = given["index"]
      @raw_properties = given["properties"] || {}
      @links = given["links"] || {}
    end

    def link(name)
      raise UnknownLink, "Can't find link '#{name}'" if @links[name].nil?
      Link.new(@links[name])
    end

    def if_link(name)
      return Otherwise.new(self) if @links[name].nil?
      yield link(name)
      Done.new
    end

    def explain(error)
      SlipwayTemplates.words(error)
    end

    def get_binding
      binding
    end

    # Constants are looked up as from get_binding.
    def self.unbound(body, file)
      class_eval(body, file, -1)
      instance_method(:slipway_template).tap { remove_method(:slipway_template) }
    end
  end
end

# What a template sees that create-env renders. Its name is in what operators read.
class TemplateEvaluationContext
  class UnknownProperty < StandardError; end

  include SlipwayTemplates::Properties
  include SlipwayTemplates::Described
  attr_reader :name, :index, :raw_properties

  def initialize(given)
    @given = given
    @name = (given["job"] || {})["name"]
    @index = given["index"]
    @raw_properties = given["properties"] || {}
  end

  def if_link(*)
    false
  end

  def explain(error)
    error.is_a?(NameError) ? "#<#{error.class}: #{SlipwayTemplates.words(error)}>" : error.inspect
  end

  def get_binding
    binding
  end

  def self.unbound(body, file)
    class_eval(body, file, -1)
    instance_method(:slipway_template).tap { remove_method(:slipway_template) }
  end

  private

  def unknown_property(names)
    raise UnknownProperty, "Can't find property '#{names.join("', or '")}'"
  end
end

${RUBY_RENDER}`;
