/** Links as templates see them: a part of the Ruby program, inside its module. */
export const RUBY_LINKS = `  class LinkInstance
    include Properties
    attr_reader :name, :index, :id, :az, :address, :bootstrap, :properties

    # Only an instance of a link that a manifest spells out has properties of its own. Those of a provider have none.
    def initialize(content)
      @name, @index, @id, @az, @address, @bootstrap, @properties =
        content.values_at("name", "index", "id", "az", "address", "bootstrap", "properties")
    end

    private

    def property_source = @properties
  end

  class Link
    include Properties
    HEALTH = { "default" => 0, "unhealthy" => 1, "healthy" => 3, "all" => 4 }.freeze
    CHECKS = { "asynchronous" => 0, "synchronous" => 1 }.freeze
    attr_reader :instances, :properties

    def initialize(content)
      @content = content
      @properties = content["properties"]
      @instances = (content["instances"] || []).map { |one| LinkInstance.new(one) }
    end

    def address(criteria = {})
      return @content["address"] if @content.key?("address")
      wanted = criteria.transform_keys(&:to_s)
      query = query_of(wanted)
      return "#{query}.#{long_tail}" unless short?
      "#{query}.q-g#{@content["group_id"]}.#{@content["domain"]}"
    end

    private

    def property_source = @properties

    def short?
      @content["use_short_dns_addresses"] || @content["use_link_dns_names"]
    end

    def long_tail
      names = @content.values_at("instance_group", "default_network", "deployment_name").map do |name|
        name.to_s.downcase.tr("_", "-").gsub(/[^a-z0-9-]/, "")
      end
      [*names, @content["domain"]].join(".")
    end

    # Letters in alphabetical order: zones, network, status, first health check.
    def query_of(wanted)
      ids = @content["az_ids"] || {}
      zones = Array(wanted["azs"]).map { |name| "a#{ids.fetch(name) { raise "Unknown AZ: '#{name}'" }}" }
      network = short? ? ["n#{@content["network_id"]}"] : []
      # As upstream has it, a word that it does not know means the default.
      status = ["s#{HEALTH.fetch(wanted["status"], 0)}"]
      check = CHECKS[wanted["initial_health_check"]]
      checks = check.nil? ? [] : ["y#{check}"]
      "q-#{(zones.sort + network + status + checks).join}"
    end
  end

`;
